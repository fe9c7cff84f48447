package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	uid   = "0b7a2e7c-6a3c-4d1b-9f0e-5b8f6a1c2d3e"
	slice = "pod0b7a2e7c_6a3c_4d1b_9f0e_5b8f6a1c2d3e.slice"
)

// id returns the ID of a container.
func id(digit string) string { return strings.Repeat(digit, 64) }

// busy is the CPU time of a container, which no sandbox has.
const busy = "usage_usec 5000000\n"

// hierarchy creates a cgroup v2 hierarchy with files, and returns its root.
func hierarchy(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, "cgroup.controllers", "cpu memory pids\n")
	for name, content := range files {
		write(t, root, name, content)
	}
	return root
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	name = filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestContainers(t *testing.T) {
	for _, tc := range []struct {
		name string
		dirs []string
		want []string
	}{
		{
			"finds containerd's with systemd in all QoS classes",
			[]string{
				"kubepods.slice/kubepods-" + slice + "/cri-containerd-" + id("1") + ".scope",
				"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-" + id("2") + ".scope",
				"kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod2.slice/cri-containerd-" + id("3") + ".scope",
			},
			[]string{uid + " " + id("1"), "1 " + id("2"), "2 " + id("3")},
		},
		{
			"finds containerd's and Docker's with cgroupfs in all QoS classes",
			[]string{"kubepods/pod" + uid + "/" + id("1"), "kubepods/burstable/pod1/" + id("2"), "kubepods/besteffort/pod2/" + id("3")},
			[]string{uid + " " + id("1"), "1 " + id("2"), "2 " + id("3")},
		},
		{
			"finds CRI-O's, but not its monitors",
			[]string{
				"kubepods.slice/kubepods-" + slice + "/crio-" + id("1") + ".scope/container",
				"kubepods.slice/kubepods-" + slice + "/crio-conmon-" + id("1") + ".scope",
				"kubepods/pod1/crio-" + id("2"), "kubepods/pod1/crio-conmon-" + id("2"),
			},
			[]string{uid + " " + id("1"), "1 " + id("2")},
		},
		{
			"finds Docker's with systemd",
			[]string{"kubepods.slice/kubepods-" + slice + "/docker-" + id("1") + ".scope"},
			[]string{uid + " " + id("1")},
		},
		{
			"finds those of a kubelet whose groups lie below others",
			[]string{
				"kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-" + slice + "/cri-containerd-" + id("1") + ".scope",
				"a/b/kubepods/pod1/" + id("2"),
				"a.slice/a-b.slice/a-b-kubepods.slice/a-b-kubepods-pod2.slice/cri-containerd-" + id("3") + ".scope",
			},
			[]string{uid + " " + id("1"), "1 " + id("2"), "2 " + id("3")},
		},
		{
			"leaves out other groups",
			[]string{
				"kubepods/pod1/" + id("1"), "kubepods/pod1/" + id("1") + "/init.scope", "kubepods/pod1/other", "kubepods/other/pod2/" + id("2"),
				"system.slice/containerd.service/kubepods/pod3/" + id("3"), "docker/" + id("4") + "/kubepods/pod4/" + id("5"),
			},
			[]string{"1 " + id("1")},
		},
		{
			"leaves out static pods, whose UIDs the API server does not know",
			[]string{"kubepods/pod1/" + id("1"), "kubepods/burstable/pod0123456789abcdef0123456789abcdef/" + id("2")},
			[]string{"1 " + id("1")},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := map[string]string{}
			for _, dir := range tc.dirs {
				files[dir+"/cpu.stat"] = busy
			}
			tree, err := Open(hierarchy(t, files))
			if err != nil {
				t.Fatal(err)
			}
			if got := list(t, tree); !slices.Equal(got, slices.Sorted(slices.Values(tc.want))) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	t.Run("finds pods again after the kubelet has created its groups again", findsPodsAgain)
}

// list returns the containers in a tree as "UID ID".
func list(t *testing.T, tree *Tree) (found []string) {
	t.Helper()
	containers, err := tree.Containers()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range containers {
		found = append(found, c.PodUID+" "+c.ID)
	}
	slices.Sort(found)
	return found
}

func findsPodsAgain(t *testing.T) {
	root := hierarchy(t, map[string]string{"kubepods/pod1/" + id("1") + "/cpu.stat": busy})
	tree, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	list(t, tree)
	if err := os.RemoveAll(filepath.Join(root, "kubepods")); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Containers(); err == nil || !strings.Contains(err.Error(), "no group kubepods") {
		t.Errorf("without pods: got %v", err)
	}
	write(t, root, "kubepods.slice/kubepods-pod2.slice/cri-containerd-"+id("2")+".scope/cpu.stat", busy)
	if got := list(t, tree); !slices.Equal(got, []string{"2 " + id("2")}) {
		t.Errorf("got %q", got)
	}
}

func TestOpen(t *testing.T) {
	for _, tc := range []struct{ name, file, says string }{
		{"cgroup v1", "memory/memory.stat", "has cgroup v1, which cannot be reported"},
		{"something that is no control group", "other/file", "is no cgroup v2 file system: in a container, mount the node's /sys/fs/cgroup there"},
		{"a hierarchy without pods", "cgroup.controllers", "no group kubepods or kubepods.slice in"},
	} {
		t.Run("rejects "+tc.name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, tc.file, "")
			if _, err := Open(root); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
}

func TestSandbox(t *testing.T) {
	const waiting = "usage_usec 30000\n"
	for _, tc := range []struct {
		name   string
		groups []group
		files  map[string]string
		want   string
	}{
		{
			"is the group that was created first", []group{{id("1"), 12}, {id("2"), 11}, {id("3"), 13}},
			map[string]string{id("2") + "/cpu.stat": waiting, id("2") + "/pids.current": "1\n", id("2") + "/memory.current": "500000\n"}, id("2"),
		},
		{
			"is told without the controllers of memory and processes", []group{{id("1"), 12}, {id("2"), 11}},
			map[string]string{id("2") + "/cpu.stat": waiting}, id("2"),
		},
		{"has one task", []group{{id("1"), 11}}, map[string]string{id("1") + "/cpu.stat": waiting, id("1") + "/pids.current": "2\n"}, ""},
		{"has little memory", []group{{id("1"), 11}}, map[string]string{id("1") + "/cpu.stat": waiting, id("1") + "/memory.current": "5000000\n"}, ""},
		{"uses no CPU", []group{{id("1"), 11}}, map[string]string{id("1") + "/cpu.stat": "usage_usec 1000001\n"}, ""},
		{
			"is not among CRI-O's groups", []group{{"crio-" + id("1") + ".scope", 11}, {"crio-" + id("2") + ".scope", 12}},
			map[string]string{"crio-" + id("1") + ".scope/cpu.stat": waiting}, "",
		},
		{"is no group of another kind", []group{{"other", 10}, {id("1"), 11}}, map[string]string{"other/cpu.stat": waiting, id("1") + "/cpu.stat": waiting}, id("1")},
		{"has ended", []group{{id("1"), 11}}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			for name, content := range tc.files {
				write(t, root, name, content)
			}
			tree := &Tree{buffer: make([]byte, 512)}
			if got := tree.sandbox(root, tc.groups); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	t.Run("stays one when it is known", func(t *testing.T) {
		root := t.TempDir()
		tree := &Tree{sandboxes: map[string]string{root: id("1")}}
		if got := tree.sandbox(root, []group{{id("2"), 1}, {id("1"), 2}}); got != id("1") {
			t.Errorf("got %q", got)
		}
	})
}
