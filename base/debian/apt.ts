import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { writeDurably } from '#base/durableFile.ts';
import { type Source, sourcesOf } from './mirror.ts';

export type Architecture = 'amd64' | 'arm64';

/** A suite, an architecture and components of it, read through an apt that knows nothing else. */
export interface AptSettings {
  directory: string;
  suite: string;
  architecture: Architecture;
  components: readonly string[];
}

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * An apt directory apart from the host's: own sources, index and (empty) list of installed packages, the host's
 * keyring and proxy settings. The host's apt is neither read for packages nor changed. Signature checks stay on.
 */
export class Apt {
  readonly settings: AptSettings;

  constructor(settings: AptSettings) {
    this.settings = settings;
  }

  /** Fetches the package index, unless it is there. `refresh` fetches it in any case. */
  async update(options: { refresh?: boolean } = {}): Promise<void> {
    if (options.refresh !== true && (await this.hasIndex())) return;
    await this.prepare();
    const sources = await sourcesOf(this.settings.suite);
    const named = sources.filter(({ guessed }) => guessed !== true);
    try {
      await this.fetchIndex(sources);
    } catch (error) {
      if (named.length === sources.length) throw error;
      await this.fetchIndex(named);
    }
  }

  /** Runs apt-get in this directory and returns its output. `cwd` is where `download` puts files. */
  get(args: readonly string[], cwd = this.settings.directory): Promise<string> {
    return run('apt-get', [...this.options(), ...args], { cwd, env: environment() });
  }

  cache(args: readonly string[]): Promise<string> {
    return run('apt-cache', [...this.options(), ...args], { env: environment() });
  }

  /** apt gives up at once when another one holds its lock; flock waits. */
  private async locked(program: string, args: readonly string[]): Promise<void> {
    const lock = path.join(this.settings.directory, 'lock');
    await run('flock', [lock, program, ...this.options(), ...args], { env: environment() });
  }

  private async hasIndex(): Promise<boolean> {
    const lists = await readdir(path.join(this.settings.directory, 'state/lists')).catch(() => []);
    return lists.some((name) => /_Packages(\.[a-z0-9]+)?$/.test(name));
  }

  private async prepare(): Promise<void> {
    await access(keyring).catch(() => {
      throw new Error(`${keyring} is missing: apt-get install debian-archive-keyring, then try again`);
    });
    const { directory } = this.settings;
    for (const name of ['etc/sources', 'state/lists/partial', 'cache/archives/partial'])
      await mkdir(path.join(directory, name), { recursive: true });
    await writeFile(path.join(directory, 'state/status'), '');
  }

  private async fetchIndex(sources: readonly Source[]): Promise<void> {
    const file = path.join(this.settings.directory, 'etc/sources/debian.sources');
    await writeDurably(file, sourcesFile(sources, this.settings));
    await this.locked('apt-get', ['update', '--error-on=any']);
  }

  private options(): string[] {
    const at = (name: string): string => path.join(this.settings.directory, name);
    const settings = {
      'Dir::Etc::sourcelist': '/dev/null',
      'Dir::Etc::sourceparts': at('etc/sources'),
      'Dir::Etc::preferences': '/dev/null',
      'Dir::Etc::preferencesparts': '/dev/null',
      'Dir::Etc::trusted': '/dev/null',
      'Dir::Etc::trustedparts': '/dev/null',
      'Dir::State': at('state'),
      'Dir::State::status': at('state/status'),
      'Dir::Cache': at('cache'),
      // Container images switch these off; without them every call parses the whole index, 2 s instead of 0.2 s.
      'Dir::Cache::pkgcache': 'pkgcache.bin',
      'Dir::Cache::srcpkgcache': 'srcpkgcache.bin',
      'APT::Architecture': this.settings.architecture,
      'APT::Architectures': this.settings.architecture,
      'APT::Default-Release': '',
      'APT::Install-Recommends': 'false',
      'APT::Immediate-Configure': 'false',
      'APT::Sandbox::User': '',
      'Acquire::AllowInsecureRepositories': 'false',
      'APT::Get::AllowUnauthenticated': 'false',
    };
    return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  }
}

/** The deb822 source entries: package indexes only, signed by the archive's key. */
function sourcesFile(sources: readonly Source[], settings: AptSettings): string {
  return sources
    .map(({ uri, suite }) =>
      [
        'Types: deb',
        `URIs: ${uri}`,
        `Suites: ${suite}`,
        `Components: ${settings.components.join(' ')}`,
        `Architectures: ${settings.architecture}`,
        'Languages: none',
        'Targets: Packages',
        `Signed-By: ${keyring}`,
        '',
      ].join('\n'),
    )
    .join('\n');
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
}
