// Command prose extracts the text of source files without its line breaks, so that Vale can
// check whole sentences: the comments and string literals of Go files, the comments of proto
// and YAML files, and Markdown. It knows nothing about what makes text good; the rules are in
// .vale/styles.
package main
