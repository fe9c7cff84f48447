package feed

import (
	"regexp"
	"strconv"
	"strings"
)

// amazonSize matches e.g. m7i.large, c6g.2xlarge, u-6tb1.56xlarge or m7i.metal-24xl.
var amazonSize = regexp.MustCompile(`^[a-z][a-z0-9-]*\.(?:(large)|(\d{0,3})xlarge|metal-(\d{1,3})xl)$`)

// amazonExceptions are the types for which the rule of amazonVCPUs is not right, or that it does
// not know.
var amazonExceptions = map[string]int{
	"c1.medium": 2, "c1.xlarge": 8, "c4.8xlarge": 36, "d2.8xlarge": 36, "hs1.8xlarge": 16,
	"hpc6a.48xlarge": 96, "hpc6id.32xlarge": 64,
	"hpc7a.12xlarge": 24, "hpc7a.24xlarge": 48, "hpc7a.48xlarge": 96, "hpc7a.96xlarge": 192, "hpc8a.96xlarge": 192,
	"m1.small": 1, "m1.medium": 1, "m2.xlarge": 2, "m2.2xlarge": 4, "m2.4xlarge": 8, "m3.medium": 1,
	"t1.micro": 1, "t2.nano": 1, "t2.micro": 1, "t2.small": 1, "t2.medium": 2,
}

// amazonMetal has the families whose whole server is a type named metal, without its size, by the
// number of vCPUs. It does not have types for which sources disagree, such as i3.metal.
var amazonMetal = byFamily(map[int]string{
	16:  "a1",
	48:  "m5zn x2iezn z1d",
	64:  "c6g c6gd c6gn c7g c7gd g5g m6g m6gd m7g m7gd r6g r6gd r7g r7gd x2gd",
	72:  "c5n",
	96:  "c5 c5d g4dn i3en m5 m5d m5dn m5n r5 r5b r5d r5dn r5n",
	128: "c6i c6id c6in i4i m6i m6id m6idn m6in r6i r6id r6idn r6in x2idn x2iedn",
	192: "c6a m6a r6a",
})

func byFamily(families map[int]string) map[string]int {
	vcpus := map[string]int{}
	for n, names := range families {
		for name := range strings.FieldsSeq(names) {
			vcpus[name] = n
		}
	}
	return vcpus
}

// amazonVCPUs returns the number of vCPUs of an AWS type: 2 if it is large, 4 if it is xlarge, 4N
// if it is Nxlarge, and 1 if it is medium and does not burst. Types that burst have 2 up to
// large.
func amazonVCPUs(instanceType string) int {
	if n, ok := amazonExceptions[instanceType]; ok {
		return n
	}
	family, size, found := strings.Cut(instanceType, ".")
	if !found {
		return 0
	}
	switch size {
	case "metal":
		return amazonMetal[family]
	case "nano", "micro", "small", "medium":
		if family == "t3" || family == "t3a" || family == "t4g" {
			return 2
		}
		if size == "medium" && amazonSize.MatchString(family+".large") {
			return 1
		}
		return 0
	}
	m := amazonSize.FindStringSubmatch(instanceType)
	switch {
	case m == nil:
		return 0
	case m[1] != "":
		return 2
	case m[2] == "" && m[3] == "":
		return 4
	}
	n, _ := strconv.Atoi(m[2] + m[3]) // Only one of them matched, and it has only digits.
	return 4 * n
}
