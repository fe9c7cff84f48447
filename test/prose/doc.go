// Command prose extracts the string literals of Go files, so that Vale can check the help,
// errors and log messages that users read. It knows nothing about what makes text good; the
// rules are in .vale/styles.
package main
