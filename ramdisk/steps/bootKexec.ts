import { restartMachine } from '../boot/restart.ts';
import type { Step } from './index.ts';

/**
 * Starts the OS on the written disk. For now by a restart of the machine: it runs the OS's own boot loader with whatever it verifies,
 * sets up every device afresh, and works alike on BIOS, UEFI and under Secure Boot, where kexec wants a kernel signed by a key
 * that this one trusts and some NICs and GPUs do not survive it. The price is one pass through the firmware. The restart waits until
 * the site has taken the result, since nothing could report it afterwards.
 */
export const bootKexec: Step<'boot.kexec'> = async (_input, { say }) => ({
  result: { method: 'restart' },
  afterwards: async () => {
    say('restarting into the disk');
    restartMachine();
  },
});
