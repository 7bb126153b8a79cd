// Run in the page: to the end, a step back, a forced word that carries on, a beam, and how long a step takes.
() => {
  const root = document.querySelector('.course-live');
  const named = (text) => [...root.querySelectorAll('button')].find((one) => one.textContent.includes(text));
  const said = () => root.querySelector('.live-say').textContent;
  const rows = () => root.querySelectorAll('.map tbody tr').length;
  const times = [];
  const toTheEnd = () => {
    for (let k = 0; k < 30 && !named('Next word').disabled; k += 1) {
      const start = performance.now();
      named('Next word').click();
      root.getBoundingClientRect();
      times.push(performance.now() - start);
    }
    return said();
  };
  const wanted = 'neununddreißigtausendsiebenhundertfünfundfünfzig';
  const answer = { begins: said().includes('dreißig') && rows() === 4, ends: toTheEnd().includes(`${wanted}.`) };
  named('Back').focus();
  const key = (name) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
  key('ArrowLeft');
  named('Next word').focus();
  key('ArrowRight');
  answer.kept = named('Next word').disabled && document.activeElement === named('Back');
  key('ArrowLeft');
  answer.back = !named('Next word').disabled;
  root.querySelectorAll('.map tbody button')[2].click();
  const other = root.querySelectorAll('.next')[1];
  const word = other.querySelector('.word').textContent;
  other.click();
  answer.forced = root.querySelector('.map .forced').textContent === word && rows() === 4 && said().includes(`You forced “${word}”`);
  answer.carried = toTheEnd().includes(`Left alone it writes ${wanted}.`);
  named('a beam of 3').click();
  answer.beam = toTheEnd().includes(`The answer is ${wanted}`) && root.querySelectorAll('.ended li').length === 3;
  named('Start again').click();
  answer.again = said().includes('dreißig') && rows() === 4;
  const field = root.querySelector('input');
  field.value = 'two cats';
  field.dispatchEvent(new Event('input'));
  answer.refused = said().includes('“cats”') && root.querySelector('.two').hidden;
  times.sort((a, b) => a - b);
  return { ...answer, median: times[times.length >> 1] };
}
