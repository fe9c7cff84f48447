module example.org/weak

go 1.26
