// Command export runs "resizectl export" on copies of directories, with a recommendation for each container that it finds
// in them, and checks what it changed. It prints how many containers were edited, listed with a reason, or neither.
//
// Values of charts, HelmReleases and Applications count, too: a .resizer.yaml in the copy maps all resources in them.
// The file repositories names public repositories to try it on.
//
// It must not use the code that it checks, but the program.
package main
