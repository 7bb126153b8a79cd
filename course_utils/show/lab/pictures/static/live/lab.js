// What shows pieces in JupyterLab: a renderer of the course's mime type. Each piece is a module beside this one, loaded when it is needed.
export const MIME = 'application/vnd.course.live+json';
const here = import.meta.url.replace(/[^/]*$/, '');

/** Link a style sheet of the pieces once. */
function styled(name) {
  if (document.querySelector(`link[data-course-live="${name}"]`)) return;
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: `${here}${name}.css` });
  link.dataset.courseLive = name;
  document.head.append(link);
}

/** The frame an output shows before anything moves: its picture or its text, as an item of a frame. */
export function stillOf(data, metadata) {
  if (!data['image/png']) return [{ text: [].concat(data['text/plain'] ?? '').join('') }];
  const { alt = '', width } = metadata['image/png'] || {};
  return [{ png: [].concat(data['image/png']).join('').trim(), alt, width }];
}

/** The Python expression that asks for a frame: None where this kernel does not hold it. */
export function question({ key, at, text }) {
  const given = [JSON.stringify(key), JSON.stringify(at), text === null || text === undefined ? 'None' : JSON.stringify(text)].join(', ');
  return `(lambda shown: shown and ${JSON.stringify(key)} in shown._asked and shown.asked(${given}) or None)`
    + '(__import__("sys").modules.get("course_utils.show.widgets"))';
}

/** Whether a piece may be loaded by this name: a notebook from a stranger must not name a script of the stranger's. */
export const isName = (kind) => typeof kind === 'string' && /^[a-z_0-9]+$/.test(kind);

/** Ask the kernel of the notebook that holds `node`; null where none answers. */
async function ask(app, node, request) {
  const kernel = kernelOf(app, node);
  if (!kernel || kernel.connectionStatus !== 'connected') return null;
  const future = kernel.requestExecute({ code: '', silent: true, store_history: false, user_expressions: { frame: question(request) } });
  const reply = await future.done.catch(() => null);
  return reply?.content?.user_expressions?.frame?.data?.[MIME] ?? null;
}

const around = (app, node) => [...app.shell.widgets('main')].find((one) => one.node.contains(node));

function kernelOf(app, node) {
  return around(app, node)?.sessionContext?.session?.kernel;
}

/** Let `change` make a new source for an answer cell of an exercise, in the notebook around `node`; false where it finds nothing to change. */
export function write(app, node, exercise, change) {
  const notebook = around(app, node)?.content;
  return (notebook?.widgets || []).some(({ model }, index) => {
    const { exercise: own, role } = model.getMetadata('course') || {};
    const next = own === exercise && role === 'answer' ? change(model.sharedModel.getSource()) : null;
    if (next === null) return false;
    model.sharedModel.setSource(next);
    notebook.activeCellIndex = index;
    return true;
  });
}

/** Wait while the kernel has something else to do: the reader's cells come first. */
async function idle(app, node) {
  while (kernelOf(app, node)?.status === 'busy') await new Promise((done) => { setTimeout(done, 200); });
}

/** A renderer, made from JupyterLab's class of widgets. */
export function renderer(Widget, app) {
  return class extends Widget {
    constructor() {
      super();
      this.addClass('course-live');
      styled('live');
    }

    async renderModel(model) {
      const { kind, state } = model.data[MIME];
      if (this.shown === JSON.stringify(model.data[MIME])) return;
      this.shown = JSON.stringify(model.data[MIME]);
      this.end?.();
      this.node.replaceChildren();
      const still = stillOf(model.data, model.metadata);
      try {
        if (!isName(kind)) throw new Error('no name of a piece');
        this.addClass(kind);
        styled(kind);
        const piece = await import(`${here}${kind}.js`);
        this.end = piece.render(this.node, state, {
          still,
          ask: (request) => ask(app, this.node, request),
          idle: () => idle(app, this.node),
          write: (exercise, change) => write(app, this.node, exercise, change),
          keep: (next) => {
            if (this.isDisposed) return;
            const data = { ...model.data, [MIME]: { kind, state: next } };
            this.shown = JSON.stringify(data[MIME]);
            model.setData({ data, metadata: model.metadata });
          },
        });
      } catch (error) { // a piece of a later edition, or a file that is missing: the picture says most of it
        console.warn(`the piece ${kind} does not run`, error);
        const [item] = still;
        const stays = document.createElement(item.png ? 'img' : 'pre');
        if (item.png) Object.assign(stays, { src: `data:image/png;base64,${item.png}`, alt: item.alt, width: item.width });
        else stays.textContent = item.text;
        this.node.replaceChildren(stays);
      }
    }

    dispose() {
      this.end?.();
      super.dispose();
    }
  };
}
