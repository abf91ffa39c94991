import { readFile } from 'node:fs/promises';
import { run } from '#base/command.ts';

/** One apt source: where a suite's index lies. */
export interface Source {
  uri: string;
  suite: string;
  /** The host does not name it: a mirror usually has it, but may not. */
  guessed?: true;
}

const fallback = 'http://deb.debian.org/debian/';

/**
 * The sources of `suite` on the mirror that the host's apt already uses, so that a proxy or a local mirror set up
 * for the host serves us too. Debian's own mirror when the host names none.
 */
export async function sourcesOf(suite: string): Promise<Source[]> {
  return chooseSources(await indexTargets(), await hostSuite(), suite);
}

/** The code name of the host's own suite, e.g. `bookworm`; undefined where the host is not Debian. */
export async function hostSuite(): Promise<string | undefined> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return text.match(/^VERSION_CODENAME="?([a-z]+)"?$/m)?.[1];
}

/**
 * Decides from what apt would fetch for the host (`uri release component` per line) which sources give `suite`:
 * the mirror of the host's own release, and the mirror of its security updates. A host without the latter (debootstrap sets up
 * none) is expected to find it beside the first, so that the same packages come from either.
 */
export function chooseSources(targets: string, host: string | undefined, suite: string): Source[] {
  const lines = targets
    .split('\n')
    .map((line) => line.trim().split(' '))
    .filter(([uri, , component]) => component === 'main' && !uri?.startsWith('cdrom:'));
  const uriOf = (releases: readonly string[]): string | undefined =>
    lines.find(([, release]) => releases.includes(release ?? ''))?.[0];
  const archive = uriOf([host ?? '', suite, 'stable', 'oldstable']);
  const security = uriOf([`${host}-security`, `${suite}-security`, 'stable-security', 'oldstable-security']);
  const first = { uri: archive ?? fallback, suite };
  if (security !== undefined) return [first, { uri: security, suite: `${suite}-security` }];
  const beside = first.uri.replace(/\/debian\/?$/, '/debian-security/');
  return beside === first.uri ? [first] : [first, { uri: beside, suite: `${suite}-security`, guessed: true }];
}

/** apt's own reading of the host's sources, in either of its two formats (`sources.list`, deb822). */
function indexTargets(): Promise<string> {
  return run('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI) $(RELEASE) $(COMPONENT)',
    'Identifier: Packages',
  ]);
}
