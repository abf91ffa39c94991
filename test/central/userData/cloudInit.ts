import path from 'node:path';
import { run } from '#base/command.ts';
import { openToolbox, type Toolbox } from '#base/debian/toolbox.ts';

/** Debian 13's cloud-init, unpacked with its Python and not installed, so that it is the same on every host. */
export interface CloudInit {
  /** `cloud-init schema`. @throws CommandFailed with what it finds wrong */
  checkSchema(file: string): Promise<void>;
  /** The documents as cloud-init's own YAML parser reads them. */
  parse(files: readonly string[]): Promise<unknown[]>;
}

export async function openCloudInit(): Promise<CloudInit> {
  const toolbox = await openToolbox(['cloud-init'], { cacheDirectory: '.cache/debian' });
  return {
    checkSchema: async (file) => {
      await python(toolbox, ['-m', 'cloudinit.cmd.main', 'schema', '--config-file', file]);
    },
    parse: async (files) => {
      const program =
        'import json, sys, yaml; print(json.dumps([yaml.safe_load(open(f)) for f in sys.argv[1:]]))';
      return JSON.parse(await python(toolbox, ['-c', program, ...files]));
    },
  };
}

function python({ root, command }: Toolbox, args: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    PYTHONHOME: path.join(root, 'usr'),
    PYTHONPATH: path.join(root, 'usr/lib/python3/dist-packages'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const [program, all] = command('usr/bin/python3.13', args);
  return run(program, all, { env });
}
