import path from 'node:path';
import type { Closable } from '#base/shutdown.ts';
import type { Rack } from '../rack.ts';
import type { Artifacts } from './artifacts.ts';
import type { Signer } from './catalog.ts';
import { type Centre, type CentreBooks, prepareCentre, startCentre } from './centre.ts';
import { type Site, startSite } from './site.ts';
import { type ImageSource, startSource } from './source.ts';

/** The three programs of a line, each in its namespace. */
export interface Services {
  source: ImageSource;
  books: CentreBooks;
  centre: Centre;
  site: Site;
}

export interface ServicesOptions {
  rack: Rack;
  directory: string;
  artifacts: Artifacts;
  signer: Signer;
  /** Fields of the site's `[provisioning]`. */
  provisioning: Readonly<Record<string, unknown>>;
  /** Fields of its `[boot]`. */
  boot: Readonly<Record<string, unknown>>;
  /** Told of everything that was started, in order. */
  started: Closable[];
}

/** Starts the image source and the centre, joins the site to it and starts the site agent. */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const { rack, directory, artifacts, signer, started, provisioning, boot } = options;
  const source = await startSource(rack.namespaces.centre, directory);
  started.push({ close: () => source.process.stop() });
  const books = await prepareCentre(path.join(directory, 'centre'), signer);
  const centre = await startCentre({
    namespace: rack.namespaces.centre,
    books,
    bcd: artifacts.bcd,
    logFile: path.join(directory, 'centre.log'),
  });
  started.push({ close: () => centre.stop() });
  const site = await startSite({
    rack,
    bcd: artifacts.bcd,
    books,
    centreUrl: centre.agentsUrl,
    ipxeDirectory: artifacts.ipxeDirectory,
    shimDirectory: artifacts.shimDirectory,
    sourceCaFile: source.certificateFile,
    directory: path.join(directory, 'site'),
    provisioning,
    boot,
  });
  started.push({ close: () => site.stop() });
  return { source, books, centre, site };
}
