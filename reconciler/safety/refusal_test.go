package safety

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Messages of the API server of Kubernetes 1.36 that TestOnTheAPIServer does not provoke, and
// messages of other versions.
func TestRefusal(t *testing.T) {
	for message, want := range map[string]contract.Reason{
		`pods "web" is forbidden: pod resize is only supported on linux nodes, node "w-0" is "windows"`:                                                                             contract.ResizeUnsupported,
		`pods "web" is forbidden: pod update requires features InPlacePodVerticalScaling which are not available on node "n4-0"`:                                                    contract.ResizeUnsupported,
		`Pod "web" is invalid: spec: Forbidden: resources for non-sidecar init containers are immutable`:                                                                            contract.ResizeUnsupported,
		`Pod "web" is invalid: <nil>: Forbidden: pods with pod-level resources cannot be resized`:                                                                                   contract.PodLevelResources,
		`Pod "web" is invalid: <nil>: Forbidden: resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled`: contract.PodLevelResources,
		`Pod "web" is invalid: spec: Forbidden: only cpu and memory resources are mutable at pod-level`:                                                                             contract.PodLevelResources,
		`Pod "web" is invalid: spec.containers[0].resources.limits[cpu]: Invalid value: "3": must be less than or equal to pod limits of 2`:                                         contract.PodLevelResources,
		`Pod "web" is invalid: spec: Forbidden: pods with node allocatable resource claims cannot be resized`:                                                                       contract.ResourceClaims,
		`Pod "web" is invalid: spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable`:                                         contract.ResourceClaims,
		`pods "web" is forbidden: node "n4-0" not found`:                                                                                                                            contract.NodeNotFound,
		`Pod "web" is invalid: spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized`:                           contract.RestartRequired,
		`Pod "web" is invalid: spec.containers[0].resources.limits: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer`:                           contract.MemoryLimitKept,
		`Pod "web" is invalid: spec.containers[0].resources.limits: Forbidden: memory limits cannot be added unless resizePolicy is RestartContainer`:                               contract.LimitRangeViolation,
		`pods "web" is forbidden: status unknown for quota: team, resources: requests.cpu`:                                                                                          contract.QuotaExceeded,
		`pods "web" is forbidden: insufficient quota to consume: requests.cpu`:                                                                                                      contract.QuotaExceeded,

		`pods "web" not found`: "",
		`pods "web" is forbidden: User "x" cannot patch resource "pods/resize" in API group "" in the namespace "default"`:                         "",
		`Operation cannot be fulfilled on pods "web": the object has been modified; please apply your changes to the latest version and try again`: "",
		`Pod "web" is invalid: spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed`:                              "",
		`Pod "web" is invalid: spec.containers: Forbidden: containers may not be added or removed on resize`:                                       "",
		`admission webhook "policy.example" denied the request: no resizes on Fridays`:                                                             "",
	} {
		got, ok := Refusal(message)
		if got != want || ok != (want != "") {
			t.Errorf("%s\ngot %q, %v, want %q", message, got, ok, want)
		}
	}
}
