/* Which sections answer a search, best first. course_utils/launcher/search.py says the same in Python, for the lab. */
(() => {
  "use strict";
  const FAQ = "faq.html";
  const LESS = { answers: .45, exercises: .3, claims: .6, symbols: .4, terms: .4, index: .3 };  // beside chapters, 1
  const EMPTY = new Set(("a an and are as at be between but by can could did difference do does for from have how i if in into is it its " +
    "me my not of on or should so than that the then there they this to up use used versus vs was we what when where which who why will " +
    "with would you your").split(" "));
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const stem = (word) => /^[a-z]{4,}$/.test(word) ? word.replace(/(?:(?<=..)ies|(?<=[^suia])s|(?<=.{4})(?:y|ing|ed|es|e))$/, "") : word;

  /* The words of a text that tell something. */
  const wordsOf = (text) => {
    const all = text.toLowerCase().replace(/[`$?!,;:"“”()[\]{}\\]/g, " ").split(/\s+/).map((word) => word.replace(/^[.\-–]+|[.\-–]+$/g, "")).filter(Boolean);
    const telling = all.filter((word) => !EMPTY.has(word));
    return telling.length ? telling : all;
  };
  /* A word may go on, kernel and kernels; American and British spelling, and hyphens, make no difference. */
  const source = (word) => {
    const body = escaped(stem(word)).replace(/i[sz](?=$|e|in|at)/g, "i[sz]").replace(/(behavi|col|fav|neighb)ou?r/g, "$1ou?r")
      .replace(/cent(?:er|re)/g, "cent(?:er|re)").replace(/[-–]/g, "[-–\\s]?");
    return `(?<![\\p{L}\\p{N}])${body}${word.length < 3 ? "(?![\\p{L}\\p{N}])" : ""}`;
  };
  const key = (text) => wordsOf(text).map((word) => stem(word).replace(/iz(?=$|e|in|at)/g, "is").replace(/[-–]/g, " ")).join(" ");

  /* index: [[page, [[place, heading, text], …]], …]; homes: [[[name, …], page, place], …]. */
  const rank = (index, homes, asked) => {
    const words = [...new Set(wordsOf(asked))];
    if (!words.length) return { words: [], found: [] };
    const entries = index.flatMap(([page, sections]) => sections.map(([place, heading, text]) => ({ page, place, heading, text, chapter: sections[0][1] })));
    const patterns = words.map((word) => new RegExp(source(word), "giu"));
    const phrase = new RegExp(words.map(source).join("[\\p{L}]*[-–\\s]+"), "iu");
    const counts = patterns.map((pattern) => entries.map(({ heading, text }) => [(heading.match(pattern) || []).length, (text.match(pattern) || []).length]));
    const worth = counts.map((row) => Math.log(1 + entries.length / (1 + row.filter(([head, body]) => head + body).length)));
    const all = worth.reduce((sum, one) => sum + one, 0), whole = ` ${key(asked)} `;
    const home = new Map();
    for (const [names, page, place] of homes) {
      for (const name of names.map(key).filter(Boolean)) {
        const part = whole.includes(` ${name} `) ? name.split(" ").length / whole.trim().split(" ").length : 0;
        home.set(`${page}#${place}`, Math.max(home.get(`${page}#${place}`) || 0, part));
      }
    }
    const found = [];
    entries.forEach((entry, at) => {
      const long = .4 + .6 * Math.min(3, entry.text.length / 2500);
      let sum = 0, seen = 0;
      counts.forEach((row, one) => {
        const [head, body] = row[at];
        if (head + body) {
          seen += worth[one];
          sum += worth[one] * (body / (body + 2 * long) + (head ? 1.2 : 0));
        }
      });
      const own = home.get(`${entry.page}#${entry.place}`) || 0;
      if (!seen && !own) return;
      if (words.length > 1 && phrase.test(`${entry.heading} ${entry.text}`)) sum += .6 * all;
      sum = sum * (seen / all) ** 2 * (LESS[entry.page.split(/[/.]/)[0]] || 1) + 3 * all * own ** 2;
      found.push([sum, own === 1 ? 1 : seen / all, entry]);
    });
    found.sort((a, b) => b[0] - a[0]);
    return { words: patterns, found };
  };
  /* Sections, mistakes of the gallery, and the question of the FAQ that holds most of the words, or half of them and some in the question itself. */
  globalThis.courseRank = (index, homes, asked) => {
    const faq = index.filter(([page]) => page === FAQ).map(([page, sections]) => [page, sections.filter(([, heading]) => /[?.]/.test(heading))]);
    const [best] = rank(faq, [], asked).found;
    const named = rank(faq.map(([page, sections]) => [page, sections.map(([place, heading]) => [place, heading, ""])]), [], asked).found;
    const part = best && named.find(([, , { place }]) => place === best[2].place)?.[1];
    const question = best && (best[1] > .8 || best[1] > .5 && part > .3) ? best[2] : null;
    const gallery = ([page]) => page.startsWith("mistakes/");
    const mistakes = rank(index.filter(gallery), [], asked).found.filter(([, share]) => share > .99);
    return { ...rank(index.filter((one) => one[0] !== FAQ && !gallery(one)), homes, asked), question, mistakes };
  };
})();
