// Command image packs binaries of workload-resizer as a container image: a tar in the OCI image
// layout, with one image per platform. It needs no container engine. "make image" runs it.
//
// It must not know how the binaries are built or what is in them.
package main
