"""Numbers of the system calls that confinement speaks of, by architecture and by what they reach."""

Number = tuple[int | None, int | None]
Calls = dict[str, Number]

COLUMNS = {"x86_64": 0, "aarch64": 1}

# name: (number on x86_64, number on aarch64); None where the architecture has no such call
NETWORK: Calls = {
    "socket": (41, 198),
    "connect": (42, 203),
    "accept": (43, 202),
    "bind": (49, 200),
    "listen": (50, 201),
    "socketpair": (53, 199),
    "accept4": (288, 242),
}
OTHER_PROCESSES: Calls = {
    "ptrace": (101, 117),
    "setsid": (112, 157),
    "rt_sigqueueinfo": (129, 138),
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "tkill": (200, 130),
    "sched_setaffinity": (203, 122),
    "ioprio_set": (251, 30),
    "rt_tgsigqueueinfo": (297, 240),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "sched_setattr": (314, 274),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
}
KERNEL_SURFACE: Calls = {
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "personality": (135, 92),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "mount": (165, 40),
    "umount2": (166, 39),
    "io_setup": (206, 0),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
}
EXECUTION: Calls = {"execve": (59, 221), "execveat": (322, 281)}
FILES: Calls = {
    "open": (2, None),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "rename": (82, None),
    "mkdir": (83, None),
    "rmdir": (84, None),
    "creat": (85, None),
    "link": (86, None),
    "unlink": (87, None),
    "symlink": (88, None),
    "readlink": (89, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "utime": (132, None),
    "mknod": (133, None),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "utimes": (235, None),
    "openat": (257, 56),
    "mkdirat": (258, 34),
    "mknodat": (259, 33),
    "fchownat": (260, 54),
    "futimesat": (261, None),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
    "readlinkat": (267, 78),
    "fchmodat": (268, 53),
    "utimensat": (280, 88),
    "renameat2": (316, 276),
    "openat2": (437, 437),
    "fchmodat2": (452, 452),
}
FORKING: Calls = {"clone": (56, 220), "fork": (57, None), "vfork": (58, None)}

KILL: Number = (62, 129)
SETPGID: Number = (109, 154)
PRCTL: Number = (157, 167)
SETRLIMIT: Number = (160, 164)
TGKILL: Number = (234, 131)
PRLIMIT: Number = (302, 261)
CLONE: Number = FORKING["clone"]
CLONE3: Number = (435, 435)
