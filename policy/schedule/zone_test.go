package schedule

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestZone(t *testing.T) {
	t.Run("knows the zones in the image of the server, which has no files", knowsTheZonesInTheImageOfTheServer)
	t.Run("a name means the same zone on every machine", aNameMeansTheSameZoneOnEveryMachine)
	t.Run("loads a zone once", loadsAZoneOnce)
}

const emptyRoot = "WORKLOAD_RESIZER_TEST_EMPTY_ROOT"

// This test runs itself as another process, which changes its root directory to an empty one.
func knowsTheZonesInTheImageOfTheServer(t *testing.T) {
	if root := os.Getenv(emptyRoot); root != "" {
		if err := syscall.Chroot(root); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat("/usr"); !os.IsNotExist(err) {
			t.Fatalf("the root directory is not empty: %v", err)
		}
		for _, name := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+1", "Zulu"} {
			if _, err := ParseZone(name); err != nil {
				t.Error(err)
			}
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self, "-test.run=^TestZone$/^knows_the_zones", "-test.v")
	command.Env = []string{emptyRoot + "=" + t.TempDir()}
	if os.Geteuid() != 0 {
		// Users other than root may change the root directory only in a new user namespace.
		command.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER, UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
	}
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestZone/knows") {
		t.Errorf("%v\n%s", err, out)
	}
}

func aNameMeansTheSameZoneOnEveryMachine(t *testing.T) {
	for _, name := range []string{
		"", "Local", "localtime", "posix/Europe/Berlin", "europe/Berlin", "Europe/berlin", "Europe//Berlin", "/Europe/Berlin", "Europe/Berlin/",
		"Europe/../Europe/Berlin", "Europe/Atlantis", "Europe", "CEST", "+01:00", "A\x00", "Ä", strings.Repeat("A", 1<<16),
	} {
		if zone, err := ParseZone(name); err == nil {
			t.Errorf("%q is accepted as %s", name, zone)
		}
	}
	_, err := ParseZone("Europe/Atlantis")
	if want := "must be the name of a time zone in the IANA database, such as Europe/Berlin or UTC"; err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func loadsAZoneOnce(t *testing.T) {
	first, err := ParseZone("Asia/Kathmandu")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseZone("Asia/Kathmandu"); err != nil || again != first {
		t.Errorf("loaded twice: %p and %p, %v", first, again, err)
	}
}
