/** What apt's index says of one package version. */
export interface PackageRecord {
  name: string;
  version: string;
  architecture: string;
  sha256: string;
  sizeBytes: number;
  depends: string;
}

/**
 * The records in the output of `apt-cache show`: paragraphs of `Field: value` lines (Debian policy 5.1). A paragraph
 * without the fields that a download needs is left out.
 */
export function parseRecords(text: string): PackageRecord[] {
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    const field = (name: string): string => paragraph.match(new RegExp(`^${name}: *(.*)$`, 'm'))?.[1] ?? '';
    const record = {
      name: field('Package'),
      version: field('Version'),
      architecture: field('Architecture'),
      sha256: field('SHA256'),
      sizeBytes: Number(field('Size')),
      depends: field('Depends'),
    };
    return record.name !== '' && /^[0-9a-f]{64}$/.test(record.sha256) ? [record] : [];
  });
}

/** The `name=version` of each package that `apt-get install --simulate` would install. */
export function parseSimulation(text: string): string[] {
  return Array.from(
    text.matchAll(/^Inst (\S+) (?:\[[^\]]*\] )?\((\S+) /gm),
    ([, name, version]) => `${name}=${version}`,
  );
}

/** The first dependency whose name matches: how a metapackage names the real one. */
export function dependencyMatching(depends: string, name: RegExp): string | undefined {
  return depends
    .split(/[,|]/)
    .map((clause) => clause.trim().split(/[\s(:]/)[0] ?? '')
    .find((candidate) => name.test(candidate));
}

/** The file name of a package in our store; an epoch's colon is escaped as apt does it. */
export function debFileName({ name, version, architecture }: PackageRecord): string {
  return `${name}_${version.replaceAll(':', '%3a')}_${architecture}.deb`;
}
