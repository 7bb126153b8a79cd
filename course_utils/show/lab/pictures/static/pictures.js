// JupyterLab draws a picture without the description that is stored beside it, so that a screen reader says nothing of it.
// This extension, for which nothing has to be built, reads the description from the output and gives it to the picture.
// It shows the course's pieces that move (live/lab.js). It also gives sliders the name that stands beside them, says what each cell is for, dims pictures in the dark theme, and lets wide formulas scroll.
// And it goes to the exercise that the address names, as in /lab/tree/work/01_kernel_regression.ipynb#exercise-01.3.
(() => {
  // Every output area below a widget of JupyterLab: those of the cells, and those that stand inside a slider's output.
  function* areas(widget) {
    for (const child of widget.children()) yield* areas(child);
    if (typeof widget.model?.get === 'function' && widget.widgets) yield widget;
  }

  function describe(widget) {
    for (const area of areas(widget)) {
      area.widgets.forEach((drawn, index) => {
        const image = drawn.node.querySelector('.jp-RenderedImage img:not([alt])');
        const output = image && index < area.model.length && area.model.get(index);
        if (output && output.data['image/png']) image.alt = output.metadata['image/png']?.alt || output.data['text/plain'] || 'figure';
      });
    }
  }

  // What a cell is for, said to custom.css: its role in an exercise; or that it is a folded test that holds and says nothing; that it is folded;
  // that it only imports.
  function mark(cell) {
    const source = cell.model.type === 'code' ? cell.model.sharedModel.getSource() : '', folded = source && cell.inputHidden;
    const silent = folded && !cell.model.outputs.length && /^\s*assert\b/m.test(source)
      && !cell.model.getMetadata('tags')?.includes('revealing'); // that one shows a picture as soon as it runs
    const imports = /^(import|from) /m.test(source) && source.split('\n').every((line) => /^($|#|import |from |[\s)])/.test(line));
    cell.node.dataset.course = cell.model.getMetadata('course')?.role || (silent ? 'silent' : folded ? 'folded' : imports ? 'imports' : '');
  }

  const exercise = location.hash.startsWith('#exercise-') ? location.hash.slice(1) : ''; // JupyterLab itself may drop it later

  // For three seconds after it is drawn, while the cells above get their full height; no longer than until the reader does something.
  function goToExercise(app) {
    let there = 0;
    const timer = setInterval(() => {
      const notebook = app.shell.currentWidget?.content;
      const at = (notebook?.widgets || []).findIndex((cell) => cell.model?.sharedModel?.getSource().includes(`id="${exercise}"`));
      if (at < 0) return;
      notebook.activeCellIndex = at;
      const mark = notebook.widgets[at].node.querySelector(`[data-jupyter-id="${exercise}"]`);
      if (mark) mark.scrollIntoView(); // not yet drawn: scrolling to its cell draws it
      else notebook.scrollToItem(at, 'start');
      if (mark && ++there === 12) clearInterval(timer);
    }, 250);
    for (const event of ['wheel', 'pointerdown', 'keydown']) addEventListener(event, () => clearInterval(timer), { once: true, capture: true });
  }

  // A program of its own: a kernel that has imported nothing yet must not look as if the first cells had been run.
  const HAND_IN = 'print(__import__("subprocess").run([__import__("sys").executable, "-c", '
    + '"from course_checks import hand_in; hand_in()"], stdout=-1, stderr=-2, text=True).stdout)';

  // On a hub, beside the other buttons of a notebook: save everything and hand it in, as hand_in() in a cell does; then show what it says.
  function addHandIn(app, panel) {
    if (!/(^|\/)work\//.test(panel.context?.path || '') || !panel.sessionContext || panel.node.querySelector('.course-hand-in')) return;
    const button = document.createElement('button'), holder = new lumino.Widget({ node: document.createElement('div') });
    holder.addClass('jp-ToolbarButton');
    button.className = 'course-hand-in jp-ToolbarButtonComponent jp-mod-minimal';
    button.title = 'Save your notebooks and hand in everything that you have answered';
    const rest = () => { button.textContent = 'Hand in'; button.disabled = false; };
    button.onclick = async () => {
      [button.textContent, button.disabled] = ['Handing in …', true];
      let said = '';
      try {
        await app.commands.execute('docmanager:save-all').catch((error) => {
          said += `Your notebook could not be saved now (${error.message}). What follows is what you had saved before.\n\n`;
        });
        const kernel = panel.sessionContext.session?.kernel;
        if (!kernel) throw new Error('Nothing was handed in: this notebook has no kernel. Choose Restart Kernel in the menu Kernel.');
        const asked = kernel.requestExecute({ code: HAND_IN, store_history: false });
        asked.onIOPub = ({ header, content }) => { said += header.msg_type === 'stream' ? content.text : content.evalue || ''; };
        await asked.done;
      } catch (error) { said += error.message; }
      rest();
      const shown = Object.assign(document.createElement('dialog'), { className: 'course-panel' });
      shown.innerHTML = '<pre style="white-space: pre-wrap; max-width: 60em"></pre><form method="dialog"><button autofocus>Close</button></form>';
      shown.firstChild.textContent = said || 'Nothing was handed in: the kernel did not answer.';
      shown.onclose = () => shown.remove();
      document.body.append(shown);
      shown.showModal();
    };
    rest();
    holder.node.append(button);
    panel.toolbar.insertBefore?.('spacer', 'course:hand-in', holder) || panel.toolbar.addItem('course:hand-in', holder);
  }

  function activate(app, rendermime) {
    const config = document.getElementById('jupyter-config-data'), hub = config && JSON.parse(config.textContent).hubUser;
    const Piece = pieces.renderer(lumino.Widget, app);
    rendermime.addFactory({ safe: true, mimeTypes: [pieces.MIME], defaultRank: 0, createRenderer: () => new Piece() });
    if (exercise) goToExercise(app);
    const style = document.createElement('style'); // the pictures are drawn on white: in the dark theme they must not dazzle
    style.textContent = '[data-jp-theme-light="false"] .jp-RenderedImage img {filter: brightness(0.82); border-radius: 4px}'
      + '.jp-RenderedMarkdown mjx-container[display="true"] {overflow: auto hidden}'; // a formula wider than the window scrolls
    document.head.append(style);
    setInterval(() => {
      for (const handle of document.querySelectorAll('.noUi-handle:not([aria-label])')) {
        handle.ariaLabel = handle.closest('.jupyter-widgets')?.querySelector('.widget-label')?.textContent || 'slider';
      }
      for (const cell of app.shell.currentWidget?.content?.widgets || []) if (cell.model?.getMetadata) mark(cell);
      if (hub && app.shell.currentWidget) addHandIn(app, app.shell.currentWidget);
      if (!document.querySelector('.jp-RenderedImage img:not([alt])')) return;
      for (const widget of app.shell.widgets('main')) (widget.content?.widgets || [widget]).forEach(describe); // the cells of a notebook
    }, 1000);
  }

  const here = document.currentScript.src.replace(/[^/]*$/, '');
  let shared, lumino, pieces; // what JupyterLab shares with its extensions; its class of widgets; what shows pieces that move
  const from = async (name) => (await Object.values(shared[name])[0].get())();

  async function load() {
    const [widgets, { IRenderMimeRegistry }, lab] = await Promise.all(
      [from('@lumino/widgets'), from('@jupyterlab/rendermime'), import(`${here}live/lab.js`)],
    );
    [lumino, pieces] = [widgets, lab];
    const plugin = { id: 'pictures:alt', autoStart: true, requires: [IRenderMimeRegistry], activate };
    return () => ({ __esModule: true, default: plugin });
  }
  (window._JUPYTERLAB ||= {}).pictures = { init: (scope) => { shared = scope; }, get: load };
})();
