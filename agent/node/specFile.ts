import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { NodeSpec } from '#contract/nodeSpec.ts';
import { validate } from '#contract/validate.ts';

/** The desired state of this node as the centre said it last, also after a restart and without a centre. */
export interface KeptSpec {
  readonly current: NodeSpec | undefined;
  /** What the centre is told; 0 before the first one. */
  generation(): number;
  replace(spec: NodeSpec): Promise<void>;
}

/** @throws RailheadError INVALID_STATE when the file is not what was written */
export async function openKeptSpec(stateDirectory: string): Promise<KeptSpec> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const file = path.join(stateDirectory, 'spec.json');
  let current = await readSpec(file);
  return {
    get current() {
      return current;
    },
    generation: () => current?.generation ?? 0,
    replace: async (spec) => {
      await writeDurably(file, `${JSON.stringify(spec)}\n`, 0o600);
      current = spec;
    },
  };
}

async function readSpec(file: string): Promise<NodeSpec | undefined> {
  try {
    return validate(NodeSpec, JSON.parse(await readFile(file, 'utf8')), 'INVALID_STATE');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}
