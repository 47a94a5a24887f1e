// The manual page tidemark(1), made of the reference of the command line
// (docs/reference/command-line.md), which is made of the commands themselves.

/** The page in the language of `man`. `date` is that of the build, as `2026-11-28`. */
export function manPage(markdown, { version, date }) {
  const lines = [`.TH TIDEMARK 1 "${date}" "Tidemark ${version}" "User Commands"`];
  lines.push('.SH NAME', 'tidemark \\- time-series database and task-processing engine');
  lines.push('.SH DESCRIPTION');
  let isVerbatim = false;
  for (const line of markdown.split('\n').slice(3)) {
    const [, level, title] = /^(##+) (.*)$/.exec(line) ?? [];
    const [, name, meaning] = /^\| (`.*?) \| (.*) \|$/.exec(line) ?? [];
    if (line.startsWith('```')) {
      isVerbatim = !isVerbatim;
      lines.push(isVerbatim ? '.PP\n.nf' : '.fi');
    } else if (isVerbatim) lines.push(escaped(line));
    else if (title !== undefined) lines.push(`.${level === '##' ? 'SH' : 'SS'} "${plain(title)}"`);
    else if (name !== undefined) lines.push('.TP', `.B ${plain(name)}`, plain(meaning));
    else if (line.startsWith('|')) continue;
    else lines.push(line === '' ? '.PP' : plain(line));
  }
  lines.push('.SH FILES', '.TP', '.I /etc/tidemark/tidemark.toml', 'configuration of the service');
  lines.push('.TP', '.I /var/lib/tidemark', 'its data');
  lines.push('.SH "SEE ALSO"', '.I /usr/share/doc/tidemark/guide');
  return `${lines.join('\n').replaceAll(/(?:^\.PP\n)+/gm, '.PP\n')}\n`;
}

/** Text of Markdown: a link is its words, code is code. */
function plain(text) {
  return escaped(text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', ''));
}

/** A dot or an apostrophe at the begin of a line would be a request. */
function escaped(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&');
}
