// Command release packs the programs of workload-resizer for users. "make release" runs it to
// write everything that a release consists of, and "make image" for the container image alone.
// It needs no container engine, and no network. The same programs, version and commit always
// produce the same bytes.
//
// It must not know how the programs are built.
package main
