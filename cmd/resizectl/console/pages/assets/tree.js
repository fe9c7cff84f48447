// Changes what is shown to a tree that the process sends. Elements stay the same as far as possible, so that focus, selection and scroll
// position survive.

/** build makes an element or a text of a tree, for a parent. */
function build(node, parent) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, children] = node;
  const element = document.createElementNS(tag === "svg" ? "http://www.w3.org/2000/svg" : parent.namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) element.append(build(child, element));
  return element;
}

/** fits reports whether something that is shown can become a node. */
function fits(shown, node) {
  if (typeof node === "string") return shown.nodeType === Node.TEXT_NODE;
  return shown.nodeType === Node.ELEMENT_NODE && shown.localName === node[0] && shown.dataset.key === node[1]["data-key"];
}

/** become changes what is shown to a node that fits. */
function become(shown, node) {
  if (typeof node === "string") {
    if (shown.data !== node) shown.data = node;
    return;
  }
  const [, attributes, children] = node;
  for (const name of shown.getAttributeNames()) {
    // People open and close details.
    if (!(name in attributes) && name !== "open") shown.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (shown.getAttribute(name) !== value && name !== "open") shown.setAttribute(name, value);
  }
  // Times are shown in the zone of the browser, and figures have what is drawn into them.
  if (shown.localName !== "time" && shown.localName !== "figure") becomeAll(shown, children);
}

/** keyOf returns what identifies a node among its siblings, if anything does. */
function keyOf(node) {
  return typeof node === "string" ? undefined : node[1]["data-key"];
}

/** becomeAll changes the children of an element. */
export function becomeAll(parent, nodes) {
  const keys = new Set(nodes.map(keyOf));
  const keyed = new Map();
  for (const child of [...parent.children]) {
    const key = child.dataset.key;
    if (key === undefined) continue;
    if (keys.has(key)) keyed.set(key, child); else child.remove();
  }
  let next = parent.firstChild;
  for (const node of nodes) {
    const key = keyOf(node);
    const have = key === undefined ? next : keyed.get(key);
    if (have && fits(have, node)) {
      // What has no key makes way, so that what has one, such as a form that somebody fills in, stays where it is.
      while (next && next !== have && next.dataset?.key === undefined) {
        const after = next.nextSibling;
        next.remove();
        next = after;
      }
      if (have === next) next = next.nextSibling;
      else parent.insertBefore(have, next);
      become(have, node);
    } else {
      parent.insertBefore(build(node, parent), next);
    }
  }
  while (next) {
    const after = next.nextSibling;
    next.remove();
    next = after;
  }
}
