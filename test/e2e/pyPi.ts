import path from 'node:path';
import { run } from '#base/command.ts';
import { makeOnce } from '#base/makeOnce.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../../.cache');

/**
 * Python software in a virtual environment of its own. Its programs are started by the interpreter: the first line of each names the folder
 * that the environment was made in, and a checkout may be moved or copied.
 */
export interface PythonSoftware {
  python: string;
  /** Where its programs are. */
  bin: string;
}

/** Installs what is not there yet, e.g. `sushy==5.14.0`, from PyPI; nothing is installed on the host. */
export async function fromPyPi(name: string, requirements: readonly string[]): Promise<PythonSoftware> {
  const venv = await makeOnce(path.join(cacheDirectory, 'pypi', name), async (work) => {
    const made = path.join(work, 'venv');
    await run('python3', ['-m', 'venv', made]);
    await run(path.join(made, 'bin/pip'), ['install', '--quiet', ...requirements]);
    return made;
  });
  const bin = path.join(venv, 'bin');
  return { python: path.join(bin, 'python'), bin };
}
