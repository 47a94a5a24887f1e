// Files that the page creates.

/** Hands a file to the browser. */
export function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  // Once the download has begun it no longer needs the address.
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
