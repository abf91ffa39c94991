import { mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderTemplate } from '#central/userData/render.ts';
import { loadTemplate } from '#central/userData/templates.ts';

const variables = {
  nodeId: 'node_01',
  hostname: 'node-01',
  joinToken: 'rhj_secret',
  controlPlaneUrl: 'https://10.79.0.2:8443',
  bcdUrl: 'https://images.example.com/bcd?a=1&b=%20',
  bcdSha256: 'c'.repeat(64),
  servingCaPin: 'sha256/ca=',
  joinSigningPin: 'sha256/sign=',
  joinEncryptionPin: 'sha256/enc=',
};

test('the shipped cloud-init document downloads bcd, checks it, joins as this node and starts the agent', async () => {
  const template = await loadTemplate('bcd-host.yaml.hbs', undefined);
  expect(renderTemplate(template, variables)).toBe(`#cloud-config
hostname: node-01
write_files:
  - path: /etc/bcd/join-token
    permissions: '0600'
    content: rhj_secret
  - path: /etc/systemd/system/bcd.service
    permissions: '0644'
    content: |
      [Unit]
      Description=Railhead node agent
      After=network-online.target bcd-join.service
      Wants=network-online.target
      [Service]
      ExecStart=/usr/local/bin/bcd node
      Restart=always
      RestartSec=5
      [Install]
      WantedBy=multi-user.target
runcmd:
  - [sh, -c, "curl -fsSL 'https://images.example.com/bcd?a=1&b=%20' -o /usr/local/bin/bcd && echo '${'c'.repeat(64)}  /usr/local/bin/bcd' | sha256sum -c - && chmod 0755 /usr/local/bin/bcd"]
  - ["/usr/local/bin/bcd","join","--server","https://10.79.0.2:8443","--token-file","/etc/bcd/join-token","--node-id","node_01","--serving-ca-pin","sha256/ca=","--join-signing-pin","sha256/sign=","--join-encryption-pin","sha256/enc="]
  - [systemctl, enable, --now, bcd.service]
`);
});

test.each(['bcdUrl', 'bcdSha256'])('without %s the shipped document is refused', async (name) => {
  const template = await loadTemplate('bcd-host.yaml.hbs', undefined);
  expect(() => renderTemplate(template, { ...variables, [name]: undefined })).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', details: { path: `userData.${name}` } }),
  );
});

test('a custom template is a file of the folder, and needs only what it uses', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-templates-'));
  await writeFile(path.join(folder, 'mine.yaml'), 'id: {{nodeId}} {{ joinToken }}\n');
  const template = await loadTemplate('mine.yaml', folder);
  expect(renderTemplate(template, { nodeId: 'n', joinToken: 't', bcdUrl: undefined })).toBe('id: n t\n');
});

test('a placeholder without a value is refused', () => {
  expect(() => renderTemplate('{{nobody}}', variables)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG' }),
  );
  expect(() => renderTemplate('{{constructor}}', variables)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG' }),
  );
});

test.each(['../../etc/passwd', 'sub/file', '.hidden', 'no-such.yaml', 'toString', ''])(
  'the template name %j finds nothing',
  async (name) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-templates-'));
    await expect(loadTemplate(name, folder)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      details: { path: 'userData.template' },
    });
  },
);

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
