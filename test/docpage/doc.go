// Package docpage keeps the generated parts of the documentation as the code has them. Tests
// compare them, and write them with -update.
package docpage
