import path from 'node:path';
import { run } from '#base/command.ts';
import { openToolbox } from '#base/debian/toolbox.ts';
import { makeOnce } from '#base/makeOnce.ts';

const version = '2.21.0';
/** The oldest Go that builds it. */
const oldestGo = [1, 22] as const;

/**
 * The path of `ignition-validate`, which is in no package of Debian 12: built once from the Go registry, and kept in the cache. Go is
 * the host's, else Debian 13's, unpacked.
 * @throws Error in the words of what could not be fetched or built
 */
export function ignitionValidator(): Promise<string> {
  return makeOnce(path.resolve(`.cache/ignition/validate-${version}`), build);
}

async function build(work: string): Promise<string> {
  const env = {
    ...process.env,
    GOBIN: work,
    GOMODCACHE: path.join(work, 'modules'),
    GOCACHE: path.join(work, 'objects'),
    GOFLAGS: '-mod=mod -modcacherw',
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
  };
  const raw = `-X=github.com/coreos/ignition/v2/internal/version.Raw=${version}`;
  const from = `github.com/coreos/ignition/v2/validate@v${version}`;
  await run(await goProgram(), ['install', `-ldflags=${raw}`, from], { env, cwd: work });
  return path.join(work, 'validate');
}

async function goProgram(): Promise<string> {
  const words = await run('go', ['version']).catch(() => '');
  const [major = 0, minor = 0] = (/go(\d+)\.(\d+)/.exec(words) ?? []).slice(1).map(Number);
  if (major > oldestGo[0] || (major === oldestGo[0] && minor >= oldestGo[1])) return 'go';
  const packages = ['golang-1.24-go', 'golang-1.24-src'];
  const { root } = await openToolbox(packages, { cacheDirectory: '.cache/debian' });
  return path.join(root, 'usr/lib/go-1.24/bin/go');
}
