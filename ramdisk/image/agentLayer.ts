import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Toolbox } from '#base/debian/toolbox.ts';
import { cachedFiles } from './cached.ts';
import { cpioArchive } from './cpio.ts';
import { settleModes } from './modes.ts';
import { makeSquashfs } from './squashfs.ts';

export interface AgentLayerOptions {
  directory: string;
  /** The executable file that becomes /usr/bin/bcd. */
  program: string;
  release: boolean;
  toolbox: Toolbox;
}

/** An initramfs archive with the agent alone, as a file system that is laid over the others: it changes far more often than they do. */
export async function agentLayer({
  directory,
  program,
  release,
  toolbox,
}: AgentLayerOptions): Promise<Buffer> {
  const { initrd } = await cachedFiles(directory, ['initrd'], async (work, result) => {
    const stage = path.join(work, 'agent');
    await mkdir(path.join(stage, 'usr/bin'), { recursive: true });
    await copyFile(program, path.join(stage, 'usr/bin/bcd'));
    await chmod(path.join(stage, 'usr/bin/bcd'), 0o755);
    await settleModes(stage);
    const squashfs = path.join(work, 'agent.squashfs');
    await makeSquashfs(stage, squashfs, release, toolbox);
    const data = await readFile(squashfs);
    const archive = cpioArchive([{ path: 'agent.squashfs', kind: 'file', mode: 0o644, data }]);
    await writeFile(path.join(result, 'initrd'), archive);
  });
  return initrd;
}
