import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { bcdJoinArgv } from '#central/userData/argv.ts';
import { renderTemplate } from '#central/userData/render.ts';
import { loadTemplate } from '#central/userData/templates.ts';
import { sampleVariables } from './samples.ts';

const cloudInit = (template: string) => ({ kind: 'cloud-init' as const, template });
const { servingCaPin, joinSigningPin, joinEncryptionPin, ...withoutPins } = sampleVariables;

/** The document of the specification, its placeholders filled in. */
const specified = `#cloud-config
hostname: {{hostname}}
write_files:
  - path: /etc/bcd/join-token
    permissions: '0600'
    content: {{joinToken}}
  - path: /etc/systemd/system/bcd.service
    permissions: '0644'
    content: |
      [Unit]
      Description=better-compute node agent
      After=network-online.target bcd-join.service
      Wants=network-online.target
      [Service]
      ExecStart=/usr/local/bin/bcd node
      Restart=always
      RestartSec=5
      [Install]
      WantedBy=multi-user.target
runcmd:
  - [sh, -c, "curl -fsSL '{{bcdUrl}}' -o /usr/local/bin/bcd && echo '{{bcdSha256}}  /usr/local/bin/bcd' | sha256sum -c - && chmod 0755 /usr/local/bin/bcd"]
  - [/usr/local/bin/bcd, join, --server, {{controlPlaneUrl}}, --token-file, /etc/bcd/join-token, --node-id, {{nodeId}}, --serving-ca-pin, {{servingCaPin}}, --join-signing-pin, {{joinSigningPin}}, --join-encryption-pin, {{joinEncryptionPin}}]
  - [systemctl, enable, --now, bcd.service]
`;

test('the shipped cloud-init template gives exactly the specified document', async () => {
  const template = await loadTemplate(cloudInit('bcd-host.yaml.hbs'), undefined);
  expect(renderTemplate(template, sampleVariables)).toBe(renderTemplate(specified, sampleVariables));
});

test('without pins the three pin arguments are left out', async () => {
  const template = await loadTemplate(cloudInit('bcd-host.yaml.hbs'), undefined);
  const pinArguments = /, --serving-ca-pin, .*(?=\]\n)/;
  expect(renderTemplate(template, withoutPins)).toBe(
    renderTemplate(specified.replace(pinArguments, ''), withoutPins),
  );
});

test.each(['bcdUrl', 'bcdSha256', 'controlPlaneUrl', 'joinToken'] as const)(
  'a shipped template without %s is refused, and the missing value named',
  async (name) => {
    for (const userData of [
      cloudInit('bcd-host.yaml.hbs'),
      { kind: 'ignition' as const, template: 'bcd-host.ign' },
    ]) {
      const template = await loadTemplate(userData, undefined);
      expect(() => renderTemplate(template, { ...sampleVariables, [name]: undefined })).toThrow(
        expect.objectContaining({ code: 'INVALID_CONFIG', details: { path: `userData.${name}` } }),
      );
    }
  },
);

test('a template is a string with placeholders or a function of the variables', async () => {
  const templates = {
    text: 'id: {{nodeId}} {{ joinToken }}\n',
    code: ({ hostname }: { hostname: string }) => `name: ${hostname}\n`,
  };
  const given = { nodeId: 'n', joinToken: 't', hostname: 'h', bcdUrl: undefined };
  expect(renderTemplate(await loadTemplate(cloudInit('text'), templates), given)).toBe('id: n t\n');
  expect(renderTemplate(await loadTemplate(cloudInit('code'), templates), given)).toBe('name: h\n');
});

test('custom templates get the pins as the variables of the same names', () => {
  const template = '{{servingCaPin}} {{joinSigningPin}} {{joinEncryptionPin}}';
  expect(renderTemplate(template, sampleVariables)).toBe(
    `${servingCaPin} ${joinSigningPin} ${joinEncryptionPin}`,
  );
});

test('a function of the variables may ask whether there are pins', () => {
  const template = ({ servingCaPin: pin }: { servingCaPin?: string }) => pin ?? 'none';
  expect(renderTemplate(template, sampleVariables)).toBe(servingCaPin);
  expect(renderTemplate(template, withoutPins)).toBe('none');
});

test.each(['id: {{nodeId', 'id: {{a{b}}}', '{{ {{nodeId}}'])(
  'a broken placeholder is refused, not kept: %s',
  (template) => {
    expect(() => renderTemplate(template, sampleVariables)).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        details: { path: 'userData.template', reason: 'placeholder' },
      }),
    );
  },
);

test.each([undefined, 7, Promise.resolve('late')])(
  'a template function that returns %j gives no document',
  (result) => {
    expect(() => renderTemplate((() => result) as never, sampleVariables)).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        details: { path: 'userData.template', reason: 'no-text' },
      }),
    );
  },
);

test('bcdJoinArgv takes all three pins, or none', () => {
  const join = { controlPlaneUrl: 'https://centre.example.com:8443', nodeId: 'node_1' };
  expect(bcdJoinArgv(join)).not.toContain('--serving-ca-pin');
  expect(() => bcdJoinArgv({ ...join, servingCaPin: String(servingCaPin) })).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', details: { path: 'pins' } }),
  );
});

test('a custom template may be a file of a folder', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-templates-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, 'mine.yaml'), 'id: {{nodeId}}\n');
  const template = await loadTemplate(cloudInit('mine.yaml'), folder);
  expect(renderTemplate(template, { nodeId: 'n' })).toBe('id: n\n');
});

test.each(['{{nobody}}', '{{constructor}}', '{{user_name}}', '{{}}', '{{ds.meta_data}}'])(
  'a placeholder with no value is refused: %s',
  (template) => {
    expect(() => renderTemplate(template, sampleVariables)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG' }),
    );
  },
);

test.each(['../../etc/passwd', 'sub/file', '.hidden', 'no-such.yaml', 'toString', ''])(
  'the template name %j finds nothing',
  async (name) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-templates-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const templates of [folder, {}, undefined])
      await expect(loadTemplate(cloudInit(name), templates)).rejects.toMatchObject({
        code: 'INVALID_CONFIG',
        details: { path: 'userData.template' },
      });
  },
);

test('no template ships for talos, and none that ships is of another kind than its own', async () => {
  for (const [kind, template] of [
    ['talos', 'bcd-host.yaml.hbs'],
    ['ignition', 'bcd-host.yaml.hbs'],
    ['cloud-init', 'bcd-host.ign'],
  ] as const)
    await expect(loadTemplate({ kind, template }, undefined)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      details: { path: 'userData.kind' },
    });
  const own = await loadTemplate({ kind: 'talos', template: 'mine' }, { mine: 'machine: {{nodeId}}' });
  expect(renderTemplate(own, { nodeId: 'n' })).toBe('machine: n');
});

test('no value can add lines or placeholders to the document', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      let document: string;
      try {
        document = renderTemplate('a: {{nodeId}}\nb: {{hostname}}\n', { nodeId: value, hostname: 'h' });
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_CONFIG', details: { path: 'userData.nodeId' } });
        return;
      }
      expect(document.split(/[\n\r\u0085\u2028\u2029]/)).toEqual([`a: ${value}`, 'b: h', '']);
      expect(document).not.toContain('{{');
    }),
  );
});
