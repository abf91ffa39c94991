import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { run } from '#base/command.ts';
import { declarationsOf } from './declarations.ts';

export const projectRoot = path.resolve(import.meta.dirname, '../..');
const entries = { railhead: 'library/railhead.ts', provision: 'library/provision.ts' };

interface Manifest {
  dependencies: Record<string, string>;
  [field: string]: unknown;
}

/**
 * Makes the package that a consumer installs, and returns the path of its tarball in `directory`. Node strips types outside of
 * `node_modules` alone, so what is installed is JavaScript with declarations; it needs no more packages than the library itself imports.
 */
export async function buildPackage(directory: string): Promise<string> {
  const staging = path.join(directory, 'package');
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  const manifest = JSON.parse(await readFile(path.join(projectRoot, 'package.json'), 'utf8')) as Manifest;
  const known = Object.keys(manifest.dependencies);
  const used = new Set([
    ...(await bundleInto(path.join(staging, 'dist'), known)),
    ...(await declarationsOf(Object.values(entries), path.join(staging, 'dist/types'), known)),
  ]);
  const text = `${JSON.stringify(packageManifest(manifest, used), null, 2)}\n`;
  await writeFile(path.join(staging, 'package.json'), text);
  await cp(path.join(projectRoot, 'LICENSE'), path.join(staging, 'LICENSE'));
  await cp(path.join(projectRoot, 'docs/library.md'), path.join(staging, 'README.md'));
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: staging });
  return path.join(directory, packed.trim());
}

/** Goes into the bundle: what it needs to be set up before it (base/reflectMetadata.ts) must come first, and imports are hoisted. */
const bundled = ['@peculiar/x509'];

/** One module for what both entries share, so that a class of one is that of the other. Returns the packages that are imported. */
async function bundleInto(directory: string, known: readonly string[]): Promise<string[]> {
  const external = known.filter((name) => !bundled.includes(name));
  const { metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: entries,
    outdir: directory,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external,
    metafile: true,
    logLevel: 'error',
  });
  const imported = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return external.filter((name) =>
    imported.some((one) => one.external === true && (one.path === name || one.path.startsWith(`${name}/`))),
  );
}

function packageManifest(manifest: Manifest, used: ReadonlySet<string>): object {
  const { name, version, description, license, type, engines, dependencies } = manifest;
  const entry = (file: keyof typeof entries) => ({
    types: `./dist/types/${entries[file].replace(/ts$/, 'd.ts')}`,
    default: `./dist/${file}.js`,
  });
  return {
    ...{ name, version, description, license, type, engines },
    exports: {
      '.': entry('railhead'),
      './provision': entry('provision'),
      './package.json': './package.json',
    },
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([one]) => used.has(one))),
  };
}
