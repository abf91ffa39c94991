import path from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { Native } from './natives.ts';

export const projectRoot = path.resolve(import.meta.dirname, '../..');

/** What ssh2 does without, and finds missing in the executable: addons that would only make it faster. */
const optionalNatives = ['cpu-features', '*/sshcrypto.node'];

/**
 * The program and all it imports as one CommonJS text: Node keeps a
 * code cache, which halves the start, for CommonJS alone.
 * The same sources give the same text wherever the project lies.
 */
export async function bundle(entry: string, natives: readonly Native[]): Promise<string> {
  const result = await build({
    absWorkingDir: projectRoot,
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node26',
    write: false,
    logLevel: 'error',
    legalComments: 'none',
    banner: { js: "const executableUrl = require('node:url').pathToFileURL(process.execPath).href;" },
    define: { 'import.meta.url': 'executableUrl', 'import.meta.dirname': 'process.execPath' },
    external: optionalNatives,
    plugins: [nativesInside(natives)],
  });
  return result.outputFiles[0]!.text;
}

function nativesInside(natives: readonly Native[]): Plugin {
  return {
    name: 'natives-inside',
    setup(builder) {
      for (const { name, finder, replacement } of natives) {
        const filter = new RegExp(`/node_modules/${finder.replaceAll('.', '\\.')}$`);
        builder.onLoad({ filter }, () => ({
          contents: `const { loadNative } = require('./loadNative.ts'); const load = () => loadNative('${name}'); ${replacement}`,
          resolveDir: import.meta.dirname,
        }));
      }
    },
  };
}
