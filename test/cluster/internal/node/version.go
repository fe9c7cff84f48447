package node

import (
	"fmt"
	"sync/atomic"
	_ "unsafe" // For go:linkname.

	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// kubernetesVersion is the version that all of Kubernetes in this process says it
// has. Its package lets others change no more than what follows the patch version.
//
//go:linkname kubernetesVersion k8s.io/component-base/version.dynamicGitVersion
var kubernetesVersion atomic.Value

// emulateVersion has the kubelet say that it is older, and switches its features
// on and off as that version does by default; upstream's own emulation, which
// kubelets have no flag for. An empty version changes nothing.
func emulateVersion(kubelet string) error {
	if kubelet == "" {
		return nil
	}
	parsed, err := version.ParseSemantic(kubelet)
	if err != nil {
		return fmt.Errorf("emulate a kubelet: %w", err)
	}
	kubernetesVersion.Store("v" + parsed.String())
	feature := version.MajorMinor(parsed.Major(), parsed.Minor())
	if err := utilfeature.DefaultMutableFeatureGate.SetEmulationVersion(feature); err != nil {
		return fmt.Errorf("emulate a kubelet of version %s: %w", kubelet, err)
	}
	return nil
}
