package node

import (
	"fmt"
	"sync/atomic"
	_ "unsafe" // For go:linkname.

	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// kubernetesVersion is the version that all Kubernetes code in this process reports. Its
// package lets callers change only what follows the patch version.
//
//go:linkname kubernetesVersion k8s.io/component-base/version.dynamicGitVersion
var kubernetesVersion atomic.Value

// emulateVersion makes the kubelet report an older version and have the default features
// of that version. It uses upstream's own emulation, for which the kubelet has no flag.
// An empty version changes nothing.
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
