// Command prose extracts the text of files without its line breaks, so that Vale can check
// whole sentences. It reads the paragraphs of Markdown, the comments of Go, proto and YAML
// files, and the string literals of Go files, which are help, errors, log messages and the names
// of tests. It knows nothing about what makes text good; the rules are in .vale/styles.
package main
