import { run } from '#base/command.ts';
import { exists } from '#base/exists.ts';
import { RailheadError } from '#contract/errors.ts';
import { qemuProgram } from './machine/commandLine.ts';
import { type FirmwareName, firmware } from './machine/firmware.ts';

/** Programs and files that a rack needs, with the Debian package that each is in. */
const programs = {
  ip: 'iproute2',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  [qemuProgram]: 'qemu-system-x86',
};

/**
 * Checks that a rack can be built here.
 * @throws RailheadError FORBIDDEN without root; UNAVAILABLE naming the Debian packages that are missing
 */
export async function checkPrerequisites(firmwares: readonly FirmwareName[]): Promise<void> {
  requireRoot();
  if (!(await exists('/dev/net/tun'))) {
    throw new RailheadError(
      'UNAVAILABLE',
      'the virtual rack needs /dev/net/tun; load the kernel module tun',
      {
        reason: 'no-tun',
      },
    );
  }
  const missing = [...(await missingPrograms()), ...(await missingFirmware(firmwares))];
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((item) => item.package))];
  throw new RailheadError(
    'UNAVAILABLE',
    `the virtual rack needs ${missing.map((item) => item.what).join(', ')}; run: apt-get install ${packages.join(' ')}`,
    { reason: 'missing-packages', packages },
  );
}

/** @throws RailheadError FORBIDDEN: network namespaces and taps are root's */
export function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new RailheadError('FORBIDDEN', 'the virtual rack makes network namespaces; run it as root', {
    reason: 'not-root',
  });
}

interface Missing {
  what: string;
  package: string;
}

async function missingPrograms(): Promise<Missing[]> {
  const checked = Object.entries(programs).map(async ([program, name]) =>
    (await isInstalled(program)) ? [] : [{ what: program, package: name }],
  );
  return (await Promise.all(checked)).flat();
}

function isInstalled(program: string): Promise<boolean> {
  return run('sh', ['-c', 'command -v "$1"', 'sh', program]).then(
    () => true,
    () => false,
  );
}

async function missingFirmware(names: readonly FirmwareName[]): Promise<Missing[]> {
  const own = names.map((name) => firmware(name)).filter(({ emulator }) => emulator === undefined);
  const files = own.flatMap(({ code }) => code ?? []);
  const checked = [...new Set(files)].map(async (file) =>
    (await exists(file)) ? [] : [{ what: file, package: 'ovmf' }],
  );
  return (await Promise.all(checked)).flat();
}
