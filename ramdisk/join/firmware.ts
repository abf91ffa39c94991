import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';
import type { RamdiskJoin } from '#contract/join.ts';
import { readVariable } from '../boot/efivars.ts';

/** UEFI 2.10 section 3.3. */
const globalVariable = '8be4df61-93ca-11d2-aa0d-00e098032b8c';
/** Set by the systemd stub of a unified kernel image that was started whole (systemd-stub(7)). */
const stubInfo = 'StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f';
/** Set by shim, which starts what Microsoft's key vouches for. */
const shimKeys = 'MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23';

/**
 * How far this machine's firmware lets the ramdisk vouch for itself: `own-key` when Secure Boot was enforced, out of its set-up
 * mode, and our whole image (kernel, initramfs and command line under one signature) was started, by firmware itself or by an iPXE that the
 * operator has signed, not the kernel alone by shim or a boot loader that hands over an initramfs or a command line that nobody verified.
 * `root` is `/` but in tests.
 *
 * An iPXE could hold a stranger's initramfs ready: the stub of systemd 257 then refuses to start ("Error registering initrd: Already started",
 * seen). Later ones put both together (systemd's main branch): before the image gets such a stub, this has to notice.
 */
export async function readTrustLevel(root: string): Promise<RamdiskJoin['trust']> {
  const flag = async (name: string) => (await readVariable(root, `${name}-${globalVariable}`))?.[0];
  const enforced = (await flag('SecureBoot')) === 1 && (await flag('SetupMode')) === 0;
  const isWhole = (await readVariable(root, stubInfo)) !== undefined;
  const byShim = (await readVariable(root, shimKeys)) !== undefined;
  return enforced && isWhole && !byShim && (await hasOwnCommandLine(root)) ? 'own-key' : 'network';
}

/** Whether the kernel runs with the command line that its image embeds. */
async function hasOwnCommandLine(root: string): Promise<boolean> {
  const [embedded, present] = await Promise.all(
    ['etc/railhead/command-line', 'proc/cmdline'].map((file) =>
      readFile(path.join(root, file), 'utf8').catch(ignore),
    ),
  );
  return embedded !== undefined && embedded.trim() === present?.trim();
}
