// What every review shares: an element by its id, and its answers as a CSV that is read and saved.
const byId = (id) => document.getElementById(id);

// A cell that a spreadsheet would take for a formula is written as text.
function csvCell(text) {
  const plain = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\r\n]/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain;
}

function saveCsv(rows) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([rows.map((row) => row.map(csvCell).join(",")).join("\n") + "\n"], { type: "text/csv" }));
  link.download = "review.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Rows of a CSV as objects of its head; quoted cells may hold commas, quotes and line breaks.
function parseCsv(text) {
  const rows = [[""]];
  let quoted = false;
  text = text.replace(/^\ufeff/, "");
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at], row = rows[rows.length - 1];
    if (quoted && char === '"' && text[at + 1] === '"') { row[row.length - 1] += '"'; at += 1; }
    else if (char === '"') quoted = !quoted;
    else if (!quoted && char === ",") row.push("");
    else if (!quoted && char === "\n") rows.push([""]);
    else if (quoted || char !== "\r") row[row.length - 1] += char;
  }
  const [head, ...cells] = rows.filter((row) => row.length > 1);
  return (cells ?? []).map((row) => Object.fromEntries(head.map((name, at) => [name, (row[at] || "").replace(/^'(?=[=+\-@\t\r])/, "")])));
}

// What was answered since the page was made is also kept by the browser, so that a closed window loses nothing.
function browserMemory(key, otherwise) {
  return {
    read: () => { try { return JSON.parse(localStorage.getItem(key)) ?? otherwise; } catch (error) { return otherwise; } },
    keep: (content) => { try { localStorage.setItem(key, JSON.stringify(content)); } catch (error) { /* not for pages from this disk */ } },
  };
}
