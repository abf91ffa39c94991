import { chmod, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Sets the modes of a folder's content to what they mean: programs 755, other files 644, folders 755. Otherwise the umask of whoever
 * builds, and of whoever checked the project out, would decide the image's bytes.
 */
export async function settleModes(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  await chmod(folder, 0o755);
  for (const entry of entries) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(file, 0o755);
    else if (entry.isFile()) await chmod(file, (await stat(file)).mode & 0o111 ? 0o755 : 0o644);
  }
}
