/**
 * The native modules inside the executable. Each finds its binary by its own means on a file system, which a single file
 * does not have: the file of it that does so is replaced by one that loads the binary from the executable.
 */
export interface Native {
  name: string;
  /** The npm package that has the binary. */
  package: string;
  /** The binary in it. */
  binary: string;
  /** The binary is not published: it is compiled, by npm for this machine, here for another. */
  compiled?: true;
  /** The module that looks for the binary, below node_modules. */
  finder: string;
  /** What takes the finder's place; `load()` gives the loaded binary. */
  replacement: string;
}

export function nativesFor(arch: 'x64' | 'arm64'): Native[] {
  return [
    {
      name: 'better-sqlite3',
      package: 'better-sqlite3',
      binary: `prebuilds/linux-${arch}.node`,
      finder: 'better-sqlite3/lib/binding.js',
      replacement: 'let binding; exports.getBinding = () => (binding ??= load());',
    },
    {
      name: 'koffi',
      package: `@koromix/koffi-linux-${arch}`,
      binary: `linux_${arch}/koffi.node`,
      finder: 'koffi/src/koffi/src/static.js',
      replacement: 'export { load as loadStatic };',
    },
    {
      name: 'zstd-napi',
      package: 'zstd-napi',
      binary: 'build/Release/binding.node',
      compiled: true,
      finder: 'zstd-napi/binding.js',
      replacement: 'module.exports = load();',
    },
  ];
}
