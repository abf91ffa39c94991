import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'smol-toml';
import type { Identity } from '#agent/join/identity.ts';
import { parseGrant } from '#central/api/grants.ts';
import { createToken } from '#central/api/tokens.ts';
import { type CentralHost, makeCentre, onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { centralPins } from '#central/join/pins.ts';
import { createSite } from '#central/sites.ts';
import type { Pins } from '#contract/join.ts';
import { freePorts } from '../../fakes/freePorts.ts';
import { loopbackSettings } from '../../fakes/loopbackSettings.ts';
import {
  type Finished,
  type RunningProgram,
  runProgram,
  type StartOptions,
  startProgram,
} from './processes.ts';

const yearMs = 365 * 24 * 3_600_000;

/** Calls a method of the API, e.g. `sites.list`. */
export type Call = <Data>(method: string, input?: object) => Promise<{ data: Data }>;

/** A site of the lab: its files, and where its doors are. */
export interface LabSite {
  siteId: string;
  directory: string;
  tokenFile: string;
  stateDirectory: string;
  configFile: string;
  adminUrl: string;
  machineUrl: string;
  bootUrl: string;
}

/** A real centre and real sites, as processes on the loopback interface. */
export interface Lab {
  directory: string;
  central: string;
  agentsUrl: string;
  apiUrl: string;
  call: Call;
  /** Starts the centre, always at the same addresses. */
  startCentre(options?: StartOptions): Promise<RunningProgram>;
  /** Works in the centre's directory as its host's commands do. */
  host<Value>(work: (host: CentralHost) => Promise<Value>): Promise<Value>;
  pins(): Promise<Pins>;
  /** A site in the books, with a join token in its token file. */
  newSite(name: string): Promise<LabSite>;
  /** A second set of doors for the same site, with a copy of its state. */
  cloneOf(site: LabSite): Promise<LabSite>;
  newToken(site: LabSite, validMs?: number): Promise<string>;
  join(site: LabSite, options?: StartOptions & { pins?: Partial<Pins> }): Promise<Finished>;
  startSite(site: LabSite, options?: StartOptions): Promise<RunningProgram>;
  identity(site: LabSite): Promise<Identity>;
  close(): Promise<void>;
}

export async function openLab(): Promise<Lab> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-lab-'));
  const central = path.join(directory, 'central');
  const [api = 0, agents = 0] = await freePorts(2);
  const agentsUrl = `https://127.0.0.1:${agents}`;
  const running: RunningProgram[] = [];
  const kept = (program: RunningProgram) => {
    running.push(program);
    return program;
  };
  await makeCentre(central);
  const apiUrl = `http://127.0.0.1:${api}`;
  const call = await apiCaller(central, apiUrl);

  const lab: Lab = {
    directory,
    central,
    agentsUrl,
    apiUrl,
    call,
    host: (work) => onHost(central, work),
    pins: () => onHost(central, async ({ keys }) => centralPins(keys)),
    startCentre: async (options) => {
      const listen = ['--api-listen', `127.0.0.1:${api}`, '--agents-listen', `127.0.0.1:${agents}`];
      const args = ['central', 'run', '--directory', central, ...listen];
      const centre = kept(await startProgram('railhead', args, options));
      await centre.line('"the centre runs"');
      return centre;
    },
    newSite: async (name) => {
      const siteId = await lab.host(async ({ store }) => (await createSite(store, name)).site_id);
      const site = await prepareSite(path.join(directory, name), siteId);
      await lab.newToken(site);
      return site;
    },
    cloneOf: async (site) => {
      const clone = await prepareSite(`${site.directory}-clone`, site.siteId);
      const filter = (file: string) => !file.endsWith('.sock');
      await cp(site.stateDirectory, clone.stateDirectory, { recursive: true, filter });
      return clone;
    },
    newToken: async ({ siteId, tokenFile }, validMs = yearMs) => {
      const { token } = await lab.host(({ store }) =>
        createJoinToken(store, { role: 'site', nodeId: siteId, validMs }),
      );
      await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
      return token;
    },
    join: async (site, options = {}) => {
      const pins = { ...(await lab.pins()), ...options.pins };
      return runProgram('bcd', joinArgs(agentsUrl, site, pins), options);
    },
    startSite: async (site, options) => {
      const program = kept(await startProgram('bcd', ['site', '--config', site.configFile], options));
      await program.line('"site agent is ready"');
      return program;
    },
    identity: async ({ stateDirectory }) =>
      JSON.parse(await readFile(path.join(stateDirectory, 'identity.json'), 'utf8')) as Identity,
    close: async () => {
      await Promise.all(running.map((program) => program.kill()));
      await rm(directory, { recursive: true, force: true });
    },
  };
  return lab;
}

/** A caller with a token that may do everything, however far the clocks are moved. */
async function apiCaller(central: string, apiUrl: string): Promise<Call> {
  const grants = [parseGrant('compute:*@compute-fleet:*')];
  const { token } = await onHost(central, ({ store }) =>
    createToken(store, { name: 'lab', grants, validMs: yearMs }),
  );
  return async (method, input = {}) => {
    const answer = await fetch(`${apiUrl}/api/compute/${method.replace('.', '/')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(input),
    });
    return (await answer.json()) as never;
  };
}

/** The words of `bcd join` for a site. */
export function joinArgs(server: string, site: LabSite, pins: Pins): string[] {
  const { tokenFile, siteId, stateDirectory } = site;
  return [
    'join',
    ...['--server', server, '--token-file', tokenFile, '--node-id', siteId],
    ...['--serving-ca-pin', pins.servingCaPin, '--join-signing-pin', pins.joinSigningPin],
    ...['--join-encryption-pin', pins.joinEncryptionPin, '--state-directory', stateDirectory],
  ];
}

async function prepareSite(directory: string, siteId: string): Promise<LabSite> {
  const configFile = path.join(directory, 'config.toml');
  const { config, ...doors } = await loopbackSettings(directory);
  await writeFile(configFile, stringify(config));
  return {
    siteId,
    directory,
    stateDirectory: config.stateDirectory,
    configFile,
    tokenFile: path.join(directory, 'join-token'),
    ...doors,
  };
}
