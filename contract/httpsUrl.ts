const host = '(\\[[0-9A-Fa-f:.]+\\]|[^\\s\\u0000-\\u001f\\u007f/?#\\\\@:\\[\\]]+)';
const rest = '[^\\s\\u0000-\\u001f\\u007f\\\\]*';

/** An `https://` URL with a host, written out: no blanks, no control characters, no backslashes. RFC 3986, section 3. */
export const httpsUrlPattern = `^https://([^\\s\\u0000-\\u001f\\u007f/?#\\\\@]*@)?${host}(:\\d{1,5})?([/?#]${rest})?$`;

const pattern = new RegExp(httpsUrlPattern, 'u');

export function isHttpsUrl(text: string): boolean {
  return pattern.test(text) && URL.canParse(text);
}
