import type { EfiLoader } from '#contract/efiLoader.ts';
import { diskLines } from './diskLines.ts';
import { overHttp, quoted, variable } from './escape.ts';
import { retried } from './retry.ts';

export interface MachineConfig {
  architecture: 'x86_64' | 'aarch64';
  /** `http://<address>:<port>` of the boot listener. */
  httpUrl: string;
  /** Of the disk that was deployed last, where it is known. */
  loader?: EfiLoader;
  boot: GrubBoot;
}

/** What the machine is to boot now. */
export type GrubBoot =
  | { kind: 'ramdisk'; digest: string; kernelArguments: readonly string[] }
  | { kind: 'iso'; digest: string }
  | { kind: 'vlan'; vlan: number }
  | { kind: 'disk' };

/** Long enough for whoever stands before the machine to press a key. */
const menuSeconds = 3;

/**
 * The menu of one machine. Its first entry is what the site wants booted, and starts by itself; the others are for whoever stands before
 * the machine.
 * @throws RangeError when an argument could not stand in a script
 */
export function machineConfig(config: MachineConfig): string {
  const { architecture, loader, boot } = config;
  const entries = [
    ...(boot.kind === 'ramdisk' ? [ramdiskEntry(config.httpUrl, boot)] : []),
    entry('railhead: boot the local disk', diskLines(architecture, loader)),
    entry('restart', ['reboot']),
    entry('firmware setup', ['fwsetup']),
  ];
  return [
    'set railhead_menu=yes',
    'set default=0',
    // Without it GRUB waits for a key when the first entry has failed.
    ...(boot.kind === 'ramdisk' ? ['set fallback=1'] : []),
    // A drawn menu takes seconds on a serial console.
    'set timeout_style=countdown',
    `set timeout=${menuSeconds}`,
    ...greeting(boot),
    ...entries.flat(),
    '',
  ].join('\n');
}

function greeting(boot: GrubBoot): string[] {
  if (boot.kind === 'ramdisk') return [`echo "railhead: booting the ramdisk ${boot.digest.slice(0, 12)}"`];
  if (boot.kind === 'disk') return ['echo "railhead: no boot entry, booting the local disk"'];
  const what = boot.kind === 'iso' ? `the ISO ${boot.digest.slice(0, 12)}` : `VLAN ${boot.vlan}`;
  return [`echo "railhead: ${what} is booted by iPXE alone, not by GRUB: booting the local disk"`, 'sleep 5'];
}

/** Kernel and initrd are sections of the ramdisk's image: shim verifies the kernel, nothing verifies the initrd. */
function ramdiskEntry(httpUrl: string, boot: Extract<GrubBoot, { kind: 'ramdisk' }>): string[] {
  const section = (name: string) =>
    quoted(overHttp(httpUrl, `/images/sha256/${boot.digest}/sections/${name}`));
  const words = boot.kernelArguments.map(quoted).join(' ');
  return entry(`railhead: boot the ramdisk ${boot.digest.slice(0, 12)}`, [
    ...retried(
      [
        `if linux ${section('linux')} ${words}; then if initrd ${section('initrd')}; then set loaded=yes; fi; fi`,
      ],
      'loaded',
    ),
    `if [ -n "${variable('loaded')}" ]; then boot; fi`,
    'echo "railhead: the ramdisk did not start"',
    'false',
  ]);
}

function entry(title: string, lines: readonly string[]): string[] {
  return [`menuentry ${quoted(title)} {`, ...lines.map((line) => `  ${line}`), '}'];
}
