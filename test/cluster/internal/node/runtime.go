package node

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
)

// runtimeName is also the scheme of container IDs in pod status.
const runtimeName = "simulated"

// runtime presents the machine as a container runtime.
type runtime struct {
	*machine
	unsupported
	// forwarder provides the addresses at which ports are forwarded.
	forwarder streaming.Server
}

var _ internalapi.RuntimeService = runtime{}

// Version identifies the runtime.
func (runtime) Version(context.Context, string) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{
		Version:           "0.1.0",
		RuntimeName:       runtimeName,
		RuntimeVersion:    "1.0.0",
		RuntimeApiVersion: "v1",
	}, nil
}

// Status reports that the runtime and its network are ready.
func (runtime) Status(context.Context, bool) (*runtimeapi.StatusResponse, error) {
	return &runtimeapi.StatusResponse{Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		{Type: runtimeapi.RuntimeReady, Status: true},
		{Type: runtimeapi.NetworkReady, Status: true},
	}}}, nil
}

// RuntimeConfig returns the cgroup driver.
func (runtime) RuntimeConfig(context.Context) (*runtimeapi.RuntimeConfigResponse, error) {
	return &runtimeapi.RuntimeConfigResponse{
		Linux: &runtimeapi.LinuxRuntimeConfiguration{CgroupDriver: runtimeapi.CgroupDriver_CGROUPFS},
	}, nil
}

// UpdateRuntimeConfig ignores the range of the pod network: pod addresses come from the
// node's own range.
func (runtime) UpdateRuntimeConfig(context.Context, *runtimeapi.RuntimeConfig) error { return nil }

// Close has no connection to close.
func (runtime) Close(context.Context) error { return nil }

// newID returns an ID with the length of real runtimes' IDs.
func newID() string {
	id := make([]byte, 32)
	rand.Read(id)
	return hex.EncodeToString(id)
}

func notFound(what, id string) error {
	return status.Errorf(codes.NotFound, "%s %q not found", what, id)
}

// matches reports whether the labels include all selected labels.
func matches(selector, labels map[string]string) bool {
	for key, value := range selector {
		if got, found := labels[key]; !found || got != value {
			return false
		}
	}
	return true
}
