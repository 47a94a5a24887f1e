// Files that the page makes.

/** Hands a file to the browser. */
export function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  // The download has its own hold of the blob once it has begun.
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
