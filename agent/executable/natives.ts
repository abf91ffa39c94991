/**
 * The native modules inside the executable. Each finds its binary by its own means on a file system, which a single file
 * does not have: the file of it that does so is replaced by one that loads the binary from the executable.
 */
export interface Native {
  name: string;
  /** The binary, below node_modules. */
  binary: string;
  /** The module that looks for the binary, below node_modules. */
  finder: string;
  /** What takes the finder's place; `load()` gives the loaded binary. */
  replacement: string;
}

export function nativesFor(arch: 'x64' | 'arm64'): Native[] {
  return [
    {
      name: 'better-sqlite3',
      binary: `better-sqlite3/prebuilds/linux-${arch}.node`,
      finder: 'better-sqlite3/lib/binding.js',
      replacement: 'let binding; exports.getBinding = () => (binding ??= load());',
    },
    {
      name: 'koffi',
      binary: `@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`,
      finder: 'koffi/src/koffi/src/static.js',
      replacement: 'export { load as loadStatic };',
    },
    {
      name: 'zstd-napi',
      binary: 'zstd-napi/build/Release/binding.node',
      finder: 'zstd-napi/binding.js',
      replacement: 'module.exports = load();',
    },
  ];
}
