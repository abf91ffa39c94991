import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface BootOptions {
  disk: string;
  firmware: 'uefi' | 'bios';
  /** How the machine sees the disk, and its network card. */
  attach?: 'virtio-blk' | 'virtio-scsi' | 'nvme' | 'ahci';
  card?: string;
  memoryMiB?: number;
  /** Appended to `-netdev user`, e.g. a port forward. */
  forward?: string;
}

export interface BootedMachine {
  /** Waits for a line on the serial console and gives its match. */
  line(pattern: RegExp, timeoutMs: number): Promise<RegExpMatchArray>;
  /** Seconds since QEMU was started. */
  seconds(): number;
  console(): string;
  stop(): Promise<void>;
}

const diskDevices = {
  'virtio-blk': ['-device', 'virtio-blk-pci,drive=disk,bootindex=0'],
  'virtio-scsi': ['-device', 'virtio-scsi-pci', '-device', 'scsi-hd,drive=disk,bootindex=0'],
  nvme: ['-device', 'nvme,drive=disk,serial=railhead,bootindex=0'],
  ahci: ['-device', 'ide-hd,drive=disk,bus=ide.0,bootindex=0'],
};

/** A QEMU machine without a rack around it: one disk, one card on QEMU's own user-mode network. */
export function bootDisk(options: BootOptions): BootedMachine {
  const directory = mkdtempSync(path.join(tmpdir(), 'railhead-os-'));
  const started = performance.now();
  const qemu = spawn('qemu-system-x86_64', qemuArguments(options, directory), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const serial = readConsole(qemu);
  return {
    line: serial.line,
    console: serial.text,
    seconds: () => (performance.now() - started) / 1000,
    async stop() {
      if (qemu.exitCode === null && qemu.kill('SIGTERM')) await once(qemu, 'exit');
      rmSync(directory, { recursive: true });
    },
  };
}

function qemuArguments(options: BootOptions, directory: string): string[] {
  const { disk, firmware, attach = 'virtio-blk', card = 'virtio-net-pci', memoryMiB = 512 } = options;
  return [
    ...['-no-user-config', '-nodefaults', '-display', 'none', '-serial', 'stdio'],
    ...['-machine', 'q35,accel=tcg', '-cpu', 'max', '-m', String(memoryMiB)],
    ...(firmware === 'uefi' ? uefiFirmware(directory) : []),
    ...['-drive', `if=none,id=disk,format=raw,file=${disk}`, ...diskDevices[attach]],
    ...['-netdev', `user,id=net${options.forward ?? ''}`, '-device', `${card},netdev=net,romfile=`],
    ...['-device', 'virtio-rng-pci'],
  ];
}

function uefiFirmware(directory: string): string[] {
  const variables = path.join(directory, 'variables.fd');
  copyFileSync('/usr/share/OVMF/OVMF_VARS_4M.fd', variables);
  const flash = 'if=pflash,format=raw';
  return [
    ...['-drive', `${flash},unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd`],
    ...['-drive', `${flash},unit=1,file=${variables}`],
  ];
}

function readConsole(qemu: ChildProcess): Pick<BootedMachine, 'line'> & { text: () => string } {
  let text = '';
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const check of waiting) check();
  };
  qemu.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    wake();
  });
  const line = (pattern: RegExp, timeoutMs: number): Promise<RegExpMatchArray> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        waiting.delete(check);
      };
      const check = (): void => {
        const match = text.match(pattern);
        if (match === null) return;
        end();
        resolve(match);
      };
      const timer = setTimeout(() => {
        end();
        reject(
          new Error(`no ${pattern} on the console within ${timeoutMs} ms; its end: ${text.slice(-500)}`),
        );
      }, timeoutMs);
      waiting.add(check);
      check();
    });
  return { line, text: () => text };
}
