import { startEntryNext } from '../boot/efiEntry.ts';
import { restartMachine } from '../boot/restart.ts';
import type { Say } from '../console.ts';
import type { Step } from './index.ts';

/**
 * Starts the OS on the written disk. For now by a restart of the machine: it runs the OS's own boot loader with whatever it verifies,
 * sets up every device afresh, and works alike on BIOS, UEFI and under Secure Boot, where kexec wants a kernel signed by a key
 * that this one trusts and some NICs and GPUs do not survive it. The price is one pass through the firmware. The restart waits until
 * the site has taken the result, since nothing could report it afterwards.
 */
export const bootKexec: Step<'boot.kexec'> = async (_input, { say }) => ({
  result: { method: 'restart', ...(await nextEntry(say)) },
  afterwards: async () => {
    say('restarting into the disk');
    restartMachine();
  },
});

/** The machine restarts without it too: the order of the firmware decides then. */
async function nextEntry(say: Say): Promise<{ bootNext?: string }> {
  try {
    const bootNext = await startEntryNext();
    return bootNext === undefined ? {} : { bootNext };
  } catch (error) {
    say(`the next start was not set: ${(error as Error).message}`);
    return {};
  }
}
