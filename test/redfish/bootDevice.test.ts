import { describe, expect, test } from 'vitest';
import { asObject, type JsonObject } from '#redfish/json.ts';
import { bmcError, type Fault } from '../fakes/fakeBmc.ts';
import { always, plainSystem, recorded, startBench } from './bmcBench.ts';

const pxeOnce = { device: 'pxe', persistent: false } as const;
const least = { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' };
const all = { ...least, BootSourceOverrideMode: 'UEFI' };

/** Answers every PATCH of the system in the BMC's place, having changed what `store` returns. */
function storing(store: (sent: JsonObject, boot: JsonObject) => JsonObject, status = 200): Fault {
  return (request, bmc) => {
    if (request.method !== 'PATCH') return undefined;
    bmc.system.Boot = { ...bmc.boot, ...store(asObject(request.body.Boot), bmc.boot) };
    return { status };
  };
}

/** Refuses a PATCH whose Boot has, or has not, a field. */
function refusing(when: (boot: JsonObject) => boolean, refusal: ReturnType<typeof bmcError>): Fault {
  return (request) => (request.method === 'PATCH' && when(asObject(request.body.Boot)) ? refusal : undefined);
}

const boots = (bodies: JsonObject[]) => bodies.map((body) => body.Boot);
const without = (system: JsonObject, field: string) => {
  const { [field]: _, ...Boot } = asObject(system.Boot);
  return { ...system, Boot };
};

test.each([
  ['pxe', false, 'Pxe', 'Once'],
  ['http', false, 'UefiHttp', 'Once'],
  ['disk', true, 'Hdd', 'Continuous'],
  ['cd', false, 'Cd', 'Once'],
] as const)(
  '%s (persistent: %s) is sent as %s, %s and nothing more',
  async (device, persistent, target, enabled) => {
    const { fake, bmc } = await startBench();
    expect(await bmc.setBootDevice({ device, persistent })).toEqual({ device, persistent });
    expect(boots(fake.sent('PATCH'))).toEqual([
      { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: enabled },
    ]);
    expect(fake.boot).toMatchObject({ BootSourceOverrideTarget: target, BootSourceOverrideMode: 'UEFI' });
  },
);

test('an override that is set already is not sent again', async () => {
  const { fake, bmc } = await startBench();
  await bmc.setBootDevice(pxeOnce);
  await bmc.setBootDevice(pxeOnce);
  expect(fake.sent('PATCH').length).toBe(1);
});

describe('R1: where the list of targets is', () => {
  test('on the system', async () => {
    const { bmc } = await startBench();
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
  });

  test('only on its settings (iDRAC10)', async () => {
    const { fake, bmc } = await startBench({ system: recorded('dell/system') });
    fake.tree[`${fake.systemPath}/Settings`] = recorded('dell/settings');
    expect(await bmc.setBootDevice({ device: 'http', persistent: false })).toBeDefined();
    expect(fake.boot).toMatchObject({ BootSourceOverrideTarget: 'UefiHttp' });
  });

  test('nowhere, empty, or settings that are not there: unknown, so it is tried', async () => {
    const name = 'BootSourceOverrideTarget@Redfish.AllowableValues';
    const empty = { ...plainSystem, Boot: { ...asObject(plainSystem.Boot), [name]: [] } };
    for (const system of [without(plainSystem, name), empty, recorded('dell/system')]) {
      const { bmc } = await startBench({ system });
      expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    }
  });

  test('a target that is not in the list is UNSUPPORTED and nothing is sent', async () => {
    const { fake, bmc } = await startBench({ system: recorded('ami/system') });
    await expect(bmc.setBootDevice({ device: 'http', persistent: false })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      details: { allowed: ['None', 'Pxe', 'Hdd', 'Cd'] },
    });
    expect(fake.sent('PATCH')).toEqual([]);
  });
});

describe('R11: accepted and not kept', () => {
  test('only the target is kept: sent again with all fields, then a named error with both', async () => {
    const keepsTarget = storing(({ BootSourceOverrideTarget }) => ({
      BootSourceOverrideTarget: BootSourceOverrideTarget ?? null,
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideMode: 'Legacy',
    }));
    const { fake, bmc } = await startBench({}, [keepsTarget]);
    await expect(bmc.setBootDevice(pxeOnce)).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      details: {
        reason: 'not-stored',
        asked: all,
        found: {
          BootSourceOverrideTarget: 'Pxe',
          BootSourceOverrideEnabled: 'Disabled',
          BootSourceOverrideMode: 'Legacy',
        },
      },
    });
    expect(boots(fake.sent('PATCH'))).toEqual([least, all]);
  });

  test('fields that are not sent are reset: the second write has all, and the next time all come first', async () => {
    const resets = storing((sent) => ({
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideMode: 'Legacy',
      ...sent,
    }));
    const { fake, bmc } = await startBench({}, [resets]);
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    expect(boots(fake.sent('PATCH'))).toEqual([least, all]);
    await bmc.setBootDevice({ device: 'disk', persistent: true });
    expect(fake.sent('PATCH').length).toBe(3);
  });

  test('Supermicro is sent all fields at once', async () => {
    const { fake, bmc } = await startBench({ system: recorded('supermicro/system') });
    await bmc.setBootDevice(pxeOnce);
    expect(boots(fake.sent('PATCH'))).toEqual([all]);
  });

  test('a BMC that needs a second write is written twice', async () => {
    let writes = 0;
    const { bmc } = await startBench({}, [storing((sent) => (++writes > 1 ? sent : {}))]);
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    expect(writes).toBe(2);
  });

  test('Once that becomes Continuous (sushy-tools answers 204) is not stored', async () => {
    const { bmc } = await startBench({}, [
      storing((sent) => ({ ...sent, BootSourceOverrideEnabled: 'Continuous' }), 204),
    ]);
    await expect(bmc.setBootDevice(pxeOnce)).rejects.toMatchObject({
      details: { reason: 'not-stored', found: { BootSourceOverrideEnabled: 'Continuous' } },
    });
  });

  test('a change that shows late is kept', async () => {
    let looks = 0;
    const late: Fault = (request, bmc) => {
      if (request.method === 'PATCH') return { status: 202 };
      if (
        request.method === 'GET' &&
        request.path === bmc.systemPath &&
        bmc.sent('PATCH').length > 0 &&
        ++looks === 2
      )
        bmc.system.Boot = { ...bmc.boot, ...least };
      return undefined;
    };
    const { fake, bmc } = await startBench({}, [late]);
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    expect(fake.sent('PATCH').length).toBe(1);
  });
});

describe('what a refusal asks for is done', () => {
  test('R20: the mode that is demanded is added', async () => {
    const demand = bmcError(400, 'Base.1.12.PropertyMissing', '', {
      RelatedProperties: ['#/Boot/BootSourceOverrideMode'],
    });
    const { fake, bmc } = await startBench({}, [
      refusing((boot) => !('BootSourceOverrideMode' in boot), demand),
    ]);
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    expect(boots(fake.sent('PATCH'))).toEqual([least, all]);
  });

  test('R20: the name of the property may be in the text only, under a general error', async () => {
    const demand = bmcError(400, 'Base.1.5.GeneralError', 'BootSourceOverrideMode is a required property');
    const { bmc } = await startBench({}, [refusing((boot) => !('BootSourceOverrideMode' in boot), demand)]);
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
  });

  test('R20: a mode that the machine does not show is not sent (Supermicro X10)', async () => {
    const x10 = without(recorded('supermicro/system'), 'BootSourceOverrideMode');
    const { fake, bmc } = await startBench({ system: x10 });
    await bmc.setBootDevice(pxeOnce);
    expect(boots(fake.sent('PATCH'))).toEqual([least]);
  });

  test('R22: too many fields are refused: the least is sent', async () => {
    const refusal = bmcError(400, 'Base.1.4.PropertyNotWritable', '', {
      MessageArgs: ['BootSourceOverrideMode'],
    });
    const system = { ...recorded('supermicro/system') };
    const { fake, bmc } = await startBench({ system }, [
      refusing((boot) => 'BootSourceOverrideMode' in boot, refusal),
    ]);
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    expect(boots(fake.sent('PATCH'))).toEqual([all, least]);
    await bmc.setBootDevice({ device: 'disk', persistent: false });
    expect(fake.sent('PATCH').length).toBe(3);
  });

  const future = bmcError(
    400,
    'Ami.1.0.OperationSupportedInFutureStateURI',
    'use /redfish/v1/Systems/Self/SD',
  );
  const refuseSystem: Fault = (request, bmc) =>
    request.method === 'PATCH' && request.path === bmc.systemPath ? future : undefined;

  test('R17: AMI sends us to the settings object, which is read and then written', async () => {
    const { fake, bmc } = await startBench({ system: recorded('ami/system') }, [refuseSystem]);
    const settings = '/redfish/v1/Systems/Self/SD';
    fake.tree[settings] = { Boot: asObject(recorded('ami/system').Boot) };
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    expect(fake.tree[settings]?.Boot).toMatchObject(least);
  });

  test('R17: settings without Boot are not written', async () => {
    const { fake, bmc } = await startBench({ system: recorded('ami/system') }, [refuseSystem]);
    fake.tree['/redfish/v1/Systems/Self/SD'] = {};
    await expect(bmc.setBootDevice(pxeOnce)).rejects.toMatchObject({ details: { reason: 'refused' } });
    expect(fake.requests.filter((one) => one.method === 'PATCH' && one.path.endsWith('SD'))).toEqual([]);
  });

  test('R16: in POST it is tried again until POST ends, a bounded time', async () => {
    const inPost = bmcError(400, 'iLO.2.14.UnableToModifyDuringSystemPOST');
    let left = 3;
    const { fake, bmc } = await startBench({}, [
      (request) => (request.method === 'PATCH' && left-- > 0 ? inPost : undefined),
    ]);
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    expect(fake.sent('PATCH').length).toBe(4);
    const never = await startBench({}, [always('PATCH', '', inPost)]);
    await expect(never.bmc.setBootDevice(pxeOnce)).rejects.toMatchObject({ code: 'DRIVER_ERROR' });
    expect(never.clock.now()).toBeLessThanOrEqual(120_000);
  });

  test('a BMC that always refuses is not asked more than five times', async () => {
    const contrary: Fault = (request) => {
      if (request.method !== 'PATCH') return undefined;
      const hasMode = 'BootSourceOverrideMode' in asObject(request.body.Boot);
      return bmcError(
        400,
        hasMode ? 'Base.1.PropertyNotWritable' : 'Base.1.PropertyMissing',
        'BootSourceOverrideMode',
      );
    };
    const { fake, bmc } = await startBench({}, [contrary]);
    await expect(bmc.setBootDevice(pxeOnce)).rejects.toMatchObject({ code: 'DRIVER_ERROR' });
    expect(fake.sent('PATCH').length).toBeLessThanOrEqual(5);
  });
});

describe('R21: Cd on iDRAC is the physical drive, so virtual media is booted by its own attributes', () => {
  const manager = '/redfish/v1/Managers/iDRAC.Embedded.1';
  const attributes = `${manager}/Oem/Dell/DellAttributes/iDRAC.Embedded.1`;
  const link = (path: string) => ({ '@odata.id': path });
  const unset = {
    'ServerBoot.1.FirstBootDevice': 'Normal',
    'ServerBoot.1.BootOnce': 'Disabled',
    'Time.1.Timezone': 'UTC',
  };
  const takesAttributes: Fault = (request, bmc) => {
    if (request.method !== 'PATCH' || request.path !== attributes) return undefined;
    const resource = bmc.tree[attributes] ?? {};
    resource.Attributes = { ...asObject(resource.Attributes), ...asObject(request.body.Attributes) };
    return { status: 200 };
  };

  async function idrac(faults: Fault[] = [takesAttributes]) {
    const system = { ...recorded('dell/system'), Links: { ManagedBy: [link(manager)] } };
    const bench = await startBench({ system }, faults);
    bench.fake.tree[manager] = {
      Links: {
        Oem: {
          Dell: { DellAttributes: [link(`${manager}/refused`), link(`${manager}/other`), link(attributes)] },
        },
      },
    };
    bench.fake.tree[`${manager}/other`] = { Attributes: { 'ServerPwr.1.PSRapidOn': 'Enabled' } };
    bench.fake.tree[attributes] = { Attributes: unset };
    return bench;
  }

  test.each([
    [false, 'Enabled'],
    [true, 'Disabled'],
  ])('persistent: %s', async (persistent, once) => {
    const { fake, bmc } = await idrac();
    expect(await bmc.setBootDevice({ device: 'cd', persistent })).toEqual({ device: 'cd', persistent });
    expect(fake.sent('PATCH')).toEqual([
      { Attributes: { 'ServerBoot.1.FirstBootDevice': 'VCD-DVD', 'ServerBoot.1.BootOnce': once } },
    ]);
    await bmc.setBootDevice({ device: 'cd', persistent });
    expect(fake.sent('PATCH')).toHaveLength(1);
  });

  test('what was accepted and not kept is told', async () => {
    const { bmc } = await idrac([always('PATCH', 'iDRAC.Embedded.1', { status: 200 })]);
    await expect(bmc.setBootDevice({ device: 'cd', persistent: false })).rejects.toMatchObject({
      details: { reason: 'not-stored' },
    });
  });

  test('without such attributes it is refused, with what to do instead, and Cd is not sent', async () => {
    const { fake, bmc } = await startBench({ system: recorded('dell/system') });
    await expect(bmc.setBootDevice({ device: 'cd', persistent: false })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('over the network'),
      details: { reason: 'boot-device' },
    });
    expect(fake.sent('PATCH')).toEqual([]);
  });
});

describe('the mode', () => {
  test.each([
    ['uefi', 'UEFI'],
    ['legacy', 'Legacy'],
  ] as const)('%s that is asked for is sent at once and read back', async (mode, sent) => {
    const { fake, bmc } = await startBench();
    expect(await bmc.setBootDevice({ ...pxeOnce, mode })).toEqual({ ...pxeOnce, mode });
    expect(boots(fake.sent('PATCH'))).toEqual([{ ...least, BootSourceOverrideMode: sent }]);
  });

  test('that is asked for and not kept is told', async () => {
    const { bmc } = await startBench({}, [storing(({ BootSourceOverrideMode: _, ...rest }) => rest)]);
    await expect(bmc.setBootDevice({ ...pxeOnce, mode: 'legacy' })).rejects.toMatchObject({
      details: {
        reason: 'not-stored',
        asked: { BootSourceOverrideMode: 'Legacy' },
        found: { BootSourceOverrideMode: 'UEFI' },
      },
    });
  });

  test('HTTP boot takes a machine out of legacy mode; anything else leaves it there', async () => {
    const system = {
      ...plainSystem,
      Boot: { ...asObject(plainSystem.Boot), BootSourceOverrideMode: 'Legacy' },
    };
    const { fake, bmc } = await startBench({ system });
    await bmc.setBootDevice(pxeOnce);
    await bmc.setBootDevice({ device: 'http', persistent: false });
    expect(boots(fake.sent('PATCH'))).toEqual([
      least,
      {
        BootSourceOverrideTarget: 'UefiHttp',
        BootSourceOverrideEnabled: 'Once',
        BootSourceOverrideMode: 'UEFI',
      },
    ]);
  });
});

test('Supermicro boots virtual media as UsbCd where it offers that', async () => {
  const name = 'BootSourceOverrideTarget@Redfish.AllowableValues';
  const system = recorded('supermicro/system');
  const offering = { ...system, Boot: { ...asObject(system.Boot), [name]: ['Pxe', 'Cd', 'UsbCd'] } };
  const { fake, bmc } = await startBench({ system: offering });
  await bmc.setBootDevice({ device: 'cd', persistent: false });
  expect(fake.boot).toMatchObject({ BootSourceOverrideTarget: 'UsbCd', BootSourceOverrideEnabled: 'Once' });
  const plain = await startBench({ system });
  await plain.bmc.setBootDevice({ device: 'cd', persistent: false });
  expect(plain.fake.boot).toMatchObject({ BootSourceOverrideTarget: 'Cd' });
});

test('iDRAC10 has Boot read-only on the system: the settings object is written', async () => {
  const refusal = bmcError(400, 'Base.1.18.PropertyNotWritable', '', {
    MessageArgs: ['BootSourceOverrideTarget'],
  });
  const { fake, bmc } = await startBench({ system: recorded('dell/system') }, [
    (request, fakeBmc) =>
      request.method === 'PATCH' && request.path === fakeBmc.systemPath ? refusal : undefined,
  ]);
  const settings = `${fake.systemPath}/Settings`;
  fake.tree[settings] = recorded('dell/settings');
  expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
  expect(fake.tree[settings]?.Boot).toMatchObject(least);
});

describe('an override that is taken back', () => {
  test('R19: the target stays as it was, since iLO refuses Disabled with None', async () => {
    const refusal = bmcError(400, 'iLO.2.14.UnsupportedOperation');
    const { fake, bmc } = await startBench({ system: recorded('hpe/system') }, [
      refusing(
        (boot) => boot.BootSourceOverrideEnabled === 'Disabled' && boot.BootSourceOverrideTarget === 'None',
        refusal,
      ),
    ]);
    await bmc.setBootDevice(pxeOnce);
    await bmc.clearBootDevice();
    expect(boots(fake.sent('PATCH')).at(-1)).toEqual({
      BootSourceOverrideTarget: 'Pxe',
      BootSourceOverrideEnabled: 'Disabled',
    });
    await bmc.clearBootDevice();
    expect(fake.sent('PATCH')).toHaveLength(2);
  });

  test('R20: with the mode, where that is demanded', async () => {
    const demand = bmcError(400, 'Base.1.12.PropertyMissing', '', {
      RelatedProperties: ['#/Boot/BootSourceOverrideMode'],
    });
    const { fake, bmc } = await startBench({}, [
      refusing((boot) => !('BootSourceOverrideMode' in boot), demand),
    ]);
    await bmc.setBootDevice(pxeOnce);
    await bmc.clearBootDevice();
    expect(fake.boot).toMatchObject({
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideMode: 'UEFI',
    });
  });
});

test('a BMC without any boot override keeps none, and that is told', async () => {
  const ignoring: Fault = (request) => (request.method === 'PATCH' ? { status: 204 } : undefined);
  const { bmc } = await startBench({ system: { ...plainSystem, Boot: { StopBootOnFault: 'Never' } } }, [
    ignoring,
  ]);
  await expect(bmc.setBootDevice(pxeOnce)).rejects.toMatchObject({
    details: { reason: 'not-stored', found: { BootSourceOverrideTarget: null } },
  });
});

test('R11: Once that has become Disabled after the boot counts as used, not as lost', async () => {
  const { fake, bmc } = await startBench();
  await bmc.setBootDevice(pxeOnce);
  fake.system.Boot = {
    ...fake.boot,
    BootSourceOverrideEnabled: 'Disabled',
    BootSourceOverrideTarget: 'None',
  };
  expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
  expect(fake.sent('PATCH')).toHaveLength(2);
});
