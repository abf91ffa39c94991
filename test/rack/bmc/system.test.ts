import { beforeEach, describe, expect, test } from 'vitest';
import { type FakeBmc, fakeBmc, messageId, poweredOff } from '../fakes/bmc.ts';

const system = '/redfish/v1/Systems/1';
const reset = `${system}/Actions/ComputerSystem.Reset`;
let bmc: FakeBmc;

beforeEach(() => {
  bmc = fakeBmc();
});

test('the system is found by links from the service root', async () => {
  const root = await bmc.ask('GET', '/redfish/v1/');
  const systems = await bmc.ask('GET', root.body.Systems['@odata.id']);
  const { status, body } = await bmc.ask('GET', systems.body.Members[0]['@odata.id']);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    '@odata.id': system,
    Manufacturer: 'Railhead',
    SerialNumber: bmc.record.serial,
    UUID: bmc.record.uuid,
    PowerState: 'Off',
  });
});

test('every link leads somewhere', async () => {
  const seen = new Set<string>();
  const links = ['/redfish/v1'];
  for (let link = links.pop(); link !== undefined; link = links.pop()) {
    if (seen.has(link)) continue;
    seen.add(link);
    const { status, body } = await bmc.ask('GET', link);
    expect([link, status]).toEqual([link, 200]);
    links.push(...Array.from(JSON.stringify(body).matchAll(/"@odata.id":"([^"]+)"/g), (found) => found[1]!));
  }
  expect(seen.size).toBeGreaterThan(10);
});

describe('reset', () => {
  test.each(['On', 'ForceOff', 'GracefulShutdown', 'ForceRestart', 'GracefulRestart', 'PowerCycle', 'Nmi'])(
    '%s is carried out',
    async (ResetType) => {
      const { status, body } = await bmc.ask('POST', reset, { ResetType });
      expect([status, body]).toEqual([204, undefined]);
      expect(bmc.machine.actions).toEqual([ResetType]);
    },
  );

  test.each([
    [{}, 'Base.1.18.ActionParameterMissing'],
    [{ ResetType: 'Nope' }, 'Base.1.18.ActionParameterValueNotInList'],
    [{ ResetType: ['On'] }, 'Base.1.18.ActionParameterValueNotInList'],
  ])('%j is refused and changes nothing', async (body, id) => {
    const answer = await bmc.ask('POST', reset, body);
    expect([answer.status, messageId(answer)]).toEqual([400, id]);
    expect(bmc.machine.actions).toEqual([]);
  });

  test('an action that needs the machine on is a conflict while it is off', async () => {
    bmc.machine.failure = poweredOff;
    const answer = await bmc.ask('POST', reset, { ResetType: 'ForceRestart' });
    expect([answer.status, messageId(answer)]).toEqual([409, 'Base.1.18.ResourceInStandby']);
  });

  test('a failure of QEMU is an internal error', async () => {
    bmc.machine.failure = new Error('no memory');
    const answer = await bmc.ask('POST', reset, { ResetType: 'On' });
    expect([answer.status, messageId(answer)]).toEqual([500, 'Base.1.18.InternalError']);
  });
});

describe('boot override', () => {
  const boot = async () => (await bmc.ask('GET', system)).body.Boot;

  test('is disabled at first, and says what it can be', async () => {
    expect(await boot()).toMatchObject({
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideTarget: 'None',
      BootSourceOverrideMode: 'UEFI',
      'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'Hdd', 'Cd', 'UefiHttp'],
    });
  });

  test('is stored, and read back by the answer', async () => {
    const Boot = {
      BootSourceOverrideTarget: 'Pxe',
      BootSourceOverrideEnabled: 'Once',
      BootSourceOverrideMode: 'UEFI',
    };
    const { status, body } = await bmc.ask('PATCH', system, { Boot });
    expect(status).toBe(200);
    expect(body.Boot).toMatchObject(Boot);
    expect(bmc.machine.bootOverride).toEqual({ target: 'Pxe', enabled: 'Once' });
  });

  test('what is not sent stays', async () => {
    await bmc.ask('PATCH', system, { Boot: { BootSourceOverrideTarget: 'Hdd' } });
    await bmc.ask('PATCH', system, { Boot: { BootSourceOverrideEnabled: 'Continuous' } });
    expect(bmc.machine.bootOverride).toEqual({ target: 'Hdd', enabled: 'Continuous' });
  });

  test.each([
    [{ Boot: { BootSourceOverrideTarget: 'Bogus' } }, 'PropertyValueNotInList'],
    [{ Boot: { BootSourceOverrideEnabled: 'Sometimes' } }, 'PropertyValueNotInList'],
    [{ Boot: { BootSourceOverrideMode: 'Legacy' } }, 'PropertyValueNotInList'],
    [{ Boot: { UefiTarget: 'x' } }, 'PropertyUnknown'],
    [{ Boot: 'Pxe' }, 'PropertyValueTypeError'],
    [{ Name: 'mine' }, 'PropertyNotWritable'],
  ])('%j is refused and changes nothing', async (body, name) => {
    const answer = await bmc.ask('PATCH', system, body);
    expect([answer.status, messageId(answer)]).toEqual([400, `Base.1.18.${name}`]);
    expect(bmc.machine.bootOverride.enabled).toBe('Disabled');
  });

  test('a BIOS machine knows no UEFI', async () => {
    bmc = fakeBmc({ firmware: 'bios' });
    expect(await boot()).toMatchObject({ BootSourceOverrideMode: 'Legacy' });
    const answer = await bmc.ask('PATCH', system, { Boot: { BootSourceOverrideTarget: 'UefiHttp' } });
    expect(messageId(answer)).toBe('Base.1.18.PropertyValueNotInList');
  });
});

test('a machine with Secure Boot says so, one without it has no such resource', async () => {
  expect((await bmc.ask('GET', system)).body.SecureBoot).toBeUndefined();
  expect((await bmc.ask('GET', `${system}/SecureBoot`)).status).toBe(404);
  bmc = fakeBmc({ firmware: 'uefi-secure' });
  const { body } = await bmc.ask('GET', system);
  expect((await bmc.ask('GET', body.SecureBoot['@odata.id'])).body.SecureBootCurrentBoot).toBe('Enabled');
});

test('what is not there is a Redfish error', async () => {
  const answer = await bmc.ask('GET', '/redfish/v1/Systems/2');
  expect([answer.status, messageId(answer)]).toEqual([404, 'Base.1.18.ResourceMissingAtURI']);
});

test('a body that is no JSON is a Redfish error', async () => {
  const { username, password } = bmc.record.bmc;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const { statusCode, body } = await bmc.app.inject({
    method: 'PATCH',
    url: system,
    headers,
    payload: '{"Boot"',
  });
  expect(statusCode).toBe(400);
  expect(JSON.parse(body).error.code).toBe('Base.1.18.MalformedJSON');
});
