// Package keys declares the keys of a configuration, each once: its name, the field that has its
// value, the values that it accepts, its default, and what it means. Reading a document, merging a rule over the
// globals, the defaults and the tables of the reference follow from that.
//
// It must not know any key.
package keys
