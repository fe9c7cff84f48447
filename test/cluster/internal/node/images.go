package node

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// imageSize is the size of every image, in bytes.
const imageSize = 1 << 20

// images presents the machine as an image service. Every requested image is available.
type images struct{ *machine }

var _ internalapi.ImageManagerService = images{}

// PullImage marks an image as present.
func (m images) PullImage(_ context.Context, spec *runtimeapi.ImageSpec, _ *runtimeapi.AuthConfig, _ *runtimeapi.PodSandboxConfig) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := spec.GetImage()
	m.images[name] = newImage(proto.Clone(spec).(*runtimeapi.ImageSpec))
	return name, nil
}

func newImage(spec *runtimeapi.ImageSpec) *runtimeapi.Image {
	return &runtimeapi.Image{Id: spec.Image, RepoTags: []string{spec.Image}, Size: imageSize, Spec: spec}
}

// ImageStatus returns an image, or nothing if it is not present.
func (m images) ImageStatus(_ context.Context, spec *runtimeapi.ImageSpec, _ bool) (*runtimeapi.ImageStatusResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	image := m.images[spec.GetImage()]
	if image == nil {
		return &runtimeapi.ImageStatusResponse{}, nil
	}
	return &runtimeapi.ImageStatusResponse{Image: proto.Clone(image).(*runtimeapi.Image)}, nil
}

// ListImages lists the images that are present, sorted by name.
func (m images) ListImages(_ context.Context, filter *runtimeapi.ImageFilter) ([]*runtimeapi.Image, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*runtimeapi.Image
	for _, name := range slices.Sorted(maps.Keys(m.images)) {
		if wanted := filter.GetImage().GetImage(); wanted == "" || wanted == name {
			list = append(list, proto.Clone(m.images[name]).(*runtimeapi.Image))
		}
	}
	return list, nil
}

// RemoveImage removes an image. A missing image is not an error.
func (m images) RemoveImage(_ context.Context, spec *runtimeapi.ImageSpec) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.images, spec.GetImage())
	return nil
}

// ImageFsInfo reports that images and containers share the only disk.
func (m images) ImageFsInfo(context.Context) (*runtimeapi.ImageFsInfoResponse, error) {
	usage := []*runtimeapi.FilesystemUsage{{
		Timestamp:  time.Now().UnixNano(),
		FsId:       &runtimeapi.FilesystemIdentifier{Mountpoint: "/"},
		UsedBytes:  &runtimeapi.UInt64Value{Value: diskSize / 10},
		InodesUsed: &runtimeapi.UInt64Value{Value: inodes / 10},
	}}
	return &runtimeapi.ImageFsInfoResponse{ImageFilesystems: usage, ContainerFilesystems: usage}, nil
}

// Close has no connection to close.
func (m images) Close(context.Context) error { return nil }
