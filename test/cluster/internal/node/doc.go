// Package node runs one node: kubelet code as upstream wrote it, over a
// simulated machine. The kubelet registers the node, admits pods and their
// resizes, runs them, reports their status; what it would ask of containers,
// cgroups and the kernel is answered from memory.
//
// The simulation remembers what a real machine would remember about resources,
// so that an in-place resize is not only admitted but actuated: the limits and
// requests of each container and of each pod's cgroup. A container runs until
// it is stopped, except:
//
//   - an init container that is not a sidecar succeeds at once;
//   - the commands "true", "false" and "sleep SECONDS" do what they say, so
//     that Jobs end.
//
// Every running container uses 16 MiB of memory: a limit below that cannot be
// set in place, just as on a real machine. Readiness follows running, probes
// are not executed. Images need no pulling. Port N of a pod that is forwarded is
// port N of this machine, as if the pod had the host's network.
//
// A node may say that its kubelet is older. Its features are then those of that
// version, but its code is not: what was changed without a feature gate is new.
//
// The package must not know how processes are started or ended, nor anything
// of the control plane but how to reach it.
package node
