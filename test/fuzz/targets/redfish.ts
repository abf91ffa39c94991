import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Value } from 'typebox/value';
import { BmcLogEntry, fingerprint } from '#contract/bmcLog.ts';
import { BmcRefusal } from '#redfish/answers.ts';
import { ifMatchForms, ifMatchHeader, tagOf } from '#redfish/entityTag.ts';
import {
  bmcOf,
  cpuOf,
  diskOf,
  firmwareOf,
  gpuOf,
  memoryOf,
  nicOf,
  systemOf,
} from '#redfish/inspect/parts.ts';
import { sensorsOf, subsystemSensorsOf } from '#redfish/inspect/sensors.ts';
import { asObject, asText, linkOf, parseBody } from '#redfish/json.ts';
import { logEntryOf } from '#redfish/logs/entry.ts';
import { messagesOf, passwordChangeAt, saysOf } from '#redfish/messages.ts';
import { retryAfterMs } from '#redfish/retryAfter.ts';
import { linkPath } from '#redfish/transport.ts';
import { json, text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const folder = 'test/fixtures/redfish';

function recorded(): Buffer[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name)));
}

/** A BMC's JSON, read as each resource that we read. */
export const target: FuzzTarget = {
  seeds: [
    ...recorded(),
    json({
      error: {
        code: 'Base.1.0.GeneralError',
        message: 'x',
        '@Message.ExtendedInfo': [
          { MessageId: 'Base.1.12.ActionParameterMissing', MessageArgs: ['ResetType'] },
        ],
      },
    }),
    json({ '@Message.ExtendedInfo': { MessageId: 5 }, Messages: [null, 'x'] }),
    json({
      '@odata.id': '/redfish/v1/Systems/1',
      Members: [{ '@odata.id': 'http://other/x' }],
      'Members@odata.nextLink': '?$skip=1',
    }),
    json({
      Temperatures: [{ Name: 'CPU', ReadingCelsius: 50, Status: { State: 'Enabled' } }],
      PowerControl: [{ PowerConsumedWatts: 1 }],
    }),
    json({
      MACAddress: 'AA:BB:CC:DD:EE:FF',
      SpeedMbps: -1,
      CapacityMiB: 1e300,
      CapacityBytes: '5',
      ProcessorType: 'GPU',
    }),
    json({
      Id: '15',
      Created: '2026-02-10T18:08:16-06:00',
      Severity: 'Warning',
      SensorType: [{ Member: 'Fan' }],
      Message: 'x',
    }),
    text('\uFEFF{"@odata.etag": ""a1"", "Id": "1"}'),
  ],
  longest: 1 << 20,
  run(input) {
    const textOf = input.toString('utf8');
    const body = parseBody(textOf);
    const resource = asObject(body);
    messagesOf(body);
    passwordChangeAt(messagesOf(body));
    saysOf(messagesOf(body), 'ResetType', 'ActionParameterMissing');
    new BmcRefusal('GET', '/', { status: 400, headers: {}, body, text: textOf });
    for (const read of [bmcOf, cpuOf, diskOf, firmwareOf, gpuOf, memoryOf, nicOf]) read(resource);
    systemOf(resource, resource);
    sensorsOf(resource, resource);
    subsystemSensorsOf(resource, [resource], resource);
    const entry = logEntryOf(resource);
    assert(entry === undefined || Value.Check(BmcLogEntry, entry), JSON.stringify(entry));
    if (entry !== undefined) fingerprint(entry);
    linkPath('https://10.0.0.2', linkOf(resource) ?? '');
    const tag = tagOf(undefined, asText(resource['@odata.etag']));
    for (const form of ifMatchForms(tag, undefined)) ifMatchHeader(form, tag);
    retryAfterMs(asText(resource.Id), 0);
  },
};
