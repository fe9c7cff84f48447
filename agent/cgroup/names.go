package cgroup

import "strings"

// isKubepods reports whether a directory has the pods of a kubelet: "kubepods" with the driver
// cgroupfs, "kubepods.slice" with systemd, or "kubelet-kubepods.slice" below another slice.
func isKubepods(name string) bool {
	return name == "kubepods" || name == "kubepods.slice" || strings.HasSuffix(name, "-kubepods.slice")
}

// isClass reports whether a directory in kubepods has the pods of a QoS class.
func isClass(name string) bool {
	name = strings.TrimSuffix(name, ".slice")
	return name == "burstable" || name == "besteffort" || strings.HasSuffix(name, "-burstable") || strings.HasSuffix(name, "-besteffort")
}

// podUID returns the UID of the pod that a directory belongs to: "pod<UID>" with the driver
// cgroupfs, or "kubepods-burstable-pod<UID>.slice", where the UID has _ for -, with systemd.
//
// The UID of a static pod is not the one that the API server knows. It is a hash without hyphens.
// Such a pod is not reported: nothing can resize it.
func podUID(name string) (string, bool) {
	if slice, ok := strings.CutSuffix(name, ".slice"); ok {
		at := strings.LastIndex(slice, "-pod")
		if at < 0 {
			return "", false
		}
		name = strings.ReplaceAll(slice[at+1:], "_", "-")
	}
	uid, ok := strings.CutPrefix(name, "pod")
	return uid, ok && uid != "" && !isHex(uid)
}

// containerID returns the ID of the container that a directory in a pod's directory belongs to:
// "<ID>" with the driver cgroupfs, or "cri-containerd-<ID>.scope" with systemd. CRI-O's names have
// a prefix in both cases. Its monitors are not containers.
func containerID(name string) (id string, ok bool) {
	name = strings.TrimSuffix(name, ".scope")
	runtime := ""
	if at := strings.LastIndexByte(name, '-'); at >= 0 {
		runtime, name = name[:at], name[at+1:]
	}
	return name, isHex(name) && !strings.HasSuffix(runtime, "conmon")
}

// idLength is the least length of the IDs of containers and static pods. All known runtimes have 64
// digits, and kubelets 32.
const idLength = 32

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) >= idLength
}
