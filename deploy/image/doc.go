// Command image packs binaries of workload-resizer as a container image: one tar
// in the OCI image layout, with an image per platform. It needs no container
// engine. "make image" runs it.
//
// It must not know how the binaries are built, nor what is in them.
package main
